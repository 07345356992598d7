import { useQuery } from '@tanstack/preact-query'
import { call, type Output } from '../api.js'
import type { JsonObject } from './draft.js'
import { PATH, type TestedCall } from './tested-call.js'
import { asPolicy } from './wire.js'

export type Verdict = Output<'POST', typeof PATH>['verdicts'][number]

/** @param policy undefined for the key's own */
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

/**
 * Any call will do, because a faulty policy is refused with an explanation for each fault; a swap
 * is not valued.
 */
const ANY_CALL: TestedCall = {
  operation: 'swap',
  chain_id: 1,
  to: '0x0000000000000000000000000000000000000001',
}

/** The faults that the service finds in a policy; requested once typing has paused. */
export function useFaults(keyId: string, policy: JsonObject | null, isPaused: boolean) {
  return useQuery({
    queryKey: ['policy-faults', keyId, JSON.stringify(policy)],
    queryFn: () => verdictsOf(keyId, [ANY_CALL], policy).then(() => true),
    enabled: policy !== null && isPaused,
    refetchInterval: false,
  })
}
