import { subWalletAddress } from '../../../actors/addresses.js'
import type { PredictedJudgement } from '../../../actors/sub-wallet/core/replies.js'
import type { ConsoleInput } from '../../api/console-operations.js'
import { toChecksumAddress } from '../../api/parse-address.js'
import type { ApiKey } from '../../domain/api-key.js'
import type { Call } from '../../domain/call.js'
import type { Hex } from '../../domain/ids.js'
import { CALL_POLICY } from '../../domain/key-policy-forms.js'
import { ok, type Result } from '../../errors/fault.js'
import { ofRead } from '../../errors/outcome-unknown.js'
import type { Policy } from '../../policy/policy.js'
import { simulateTransaction } from '../../valuation/simulate-transaction.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { ownedKey } from './ownership.js'

type TestedCall = ConsoleInput<'test_policy'>['calls'][number]

const NO_POLICY = ['No policy binds the key: any call within its caps is allowed.']

/**
 * Judges calls by a policy as of now, with what the key has counted so far. Nothing is sent,
 * counted or stored. Spend is known only for sends; for other calls, and without a price,
 * conditions in USD cannot be judged.
 */
export function testPolicy(ports: OperationPorts): ConsoleHandlers['test_policy'] {
  const { reader } = ports
  return async ({ userId }, input) => {
    const owned = ownedKey(reader, userId, input.key_id)
    if (!owned.ok) return owned
    const key = owned.value
    const policy =
      input.policy === undefined ? key.policy : CALL_POLICY.fromWire(input.policy ?? null)
    const verdicts = []
    for (const call of input.calls) {
      const verdict = await verdictOn(ports, key, policy, call)
      if (!verdict.ok) return verdict
      verdicts.push(verdict.value)
    }
    return { ok: true, value: { verdicts } }
  }
}

async function verdictOn(
  ports: OperationPorts,
  key: ApiKey,
  policy: Policy | null,
  { operation: kind, chain_id: chainId, to, data, value, token_out: tokenOut }: TestedCall,
): Promise<Result<Pick<PredictedJudgement, 'effect' | 'rule'> & { reasons: string[] }>> {
  // A key that another key made is also bound by that key's policy.
  const isUnbound = policy === null && key.parentLineageId === undefined
  if (isUnbound) return ok({ effect: 'allow', rule: null, reasons: NO_POLICY })
  const call: Call = {
    chainId,
    to: toChecksumAddress(to),
    value: BigInt(value ?? '0'),
    data: (data ?? '0x').toLowerCase() as Hex,
  }
  const spend = kind === 'send' ? await spendOf(ports, key, call) : UNKNOWN
  const command = {
    type: 'read-limits' as const,
    keyId: key.keyId,
    nowMs: ports.nowMs(),
    judged: { kind, call, policy, ...spend, ...outputOf(tokenOut) },
  }
  const limits = await ports.actors.ask(subWalletAddress(key), command)
  if (!limits.ok) return ofRead(limits)
  const { predicted } = limits.value
  if (predicted === undefined) throw new Error('a call was not judged')
  const { effect, rule, reasons } = predicted
  return ok({ effect, rule, reasons: rule === null ? NO_POLICY : [...reasons] })
}

function outputOf(tokenOut: string | undefined) {
  return tokenOut === undefined ? {} : { tokenOut: toChecksumAddress(tokenOut) }
}

const UNKNOWN = { spendMicros: null, gasMicros: 0n }

/** What the call would count towards the caps; unknown if it cannot be valued. */
async function spendOf(ports: OperationPorts, { subWalletId }: ApiKey, call: Call) {
  const from = ports.reader.wallets.byId(subWalletId)?.address
  if (from === undefined) return UNKNOWN
  const forecast = await simulateTransaction(ports, { ...call, from })
  if (!forecast.ok || forecast.value.unpriced) return UNKNOWN
  const { spendMicros, gasMicros, gasWei } = forecast.value
  return { spendMicros, gasMicros, gasWei }
}
