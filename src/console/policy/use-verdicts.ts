import { useQuery } from '@tanstack/preact-query'
import { call, type Input, type Output } from '../api.js'
import type { JsonObject } from './draft.js'
import { asPolicy } from './wire.js'

const PATH = '/api/v1/agent/keys/:key_id/policy/test'
export type TestedCall = Input<'POST', typeof PATH>['calls'][number]
export const OPERATIONS = [
  ...(['send', 'swap', 'defi_deposit', 'defi_withdraw', 'gas_swap'] as const),
] satisfies readonly TestedCall['operation'][]
export type Verdict = Output<'POST', typeof PATH>['verdicts'][number]

/** @param policy undefined: the key's own */
export async function verdictsOf(
  keyId: string,
  calls: readonly TestedCall[],
  policy: JsonObject | null | undefined,
): Promise<readonly Verdict[]> {
  const { verdicts } = await call('POST', PATH, {
    key_id: keyId,
    calls: [...calls],
    ...(policy === undefined ? {} : { policy: asPolicy(policy) }),
  })
  return verdicts
}

/** Whatever it is of, a policy with a fault is refused with words for each; a swap is not valued. */
const ANY_CALL: TestedCall = {
  operation: 'swap',
  chain_id: 1,
  to: '0x0000000000000000000000000000000000000001',
}

/** What the service finds wrong with a policy; it is asked once typing has paused. */
export function useFaults(keyId: string, policy: JsonObject | null, isPaused: boolean) {
  return useQuery({
    queryKey: ['policy-faults', keyId, JSON.stringify(policy)],
    queryFn: () => verdictsOf(keyId, [ANY_CALL], policy).then(() => true),
    enabled: policy !== null && isPaused,
    refetchInterval: false,
  })
}
