import { LRUCache } from 'lru-cache'
import { subWalletAddress } from '../../../actors/addresses.js'
import type { LimitsAnswer, LimitsNode } from '../../../actors/sub-wallet/core/replies.js'
import { rulesInWords } from '../../api/call-policy.js'
import { keepJson } from '../../api/json-text.js'
import type { OperationOutput } from '../../api/operations.js'
import type { ApiKey } from '../../domain/api-key.js'
import type { Freezing } from '../../domain/freeze.js'
import type { KeyId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { USD_CAP } from '../../domain/key-policy-forms.js'
import { formatUsd } from '../../domain/money.js'
import { dayEndMs, monthEndMs, utcDay } from '../../domain/spend.js'
import { ofRead } from '../../errors/outcome-unknown.js'
import { freezeView } from '../console/views.js'
import type { AgentHandlers, Answer } from '../context.js'
import type { OperationPorts } from '../ports.js'

type Limits = OperationOutput<'get_limits'>

/** Keys whose last answer is at hand; one takes about 1 kB, and as much again as MCP gives it. */
const KEPT_MAX = 10_000

interface KeptLimits {
  /** Of the sub-wallet, from before its actor was asked. */
  readonly version: number
  /** The windows that the answer is about: a month ends with a day. */
  readonly day: number
  readonly frozen: Freezing | null
  readonly answer: Answer<Limits>
}

/**
 * Asked of the actor, since reservations of requests under way are known there alone; its last
 * answer is given again for as long as it has decided nothing since and the day is the same.
 */
export function getLimits(
  ports: Pick<OperationPorts, 'actors' | 'walletVersions' | 'freezes' | 'nowMs'>,
): AgentHandlers['get_limits'] {
  const { actors, walletVersions, freezes, nowMs } = ports
  const kept = new LRUCache<KeyId, KeptLimits>({ max: KEPT_MAX })

  async function ask(asking: ApiKey, version: number, frozen: Freezing | null, now: number) {
    const { keyId } = asking
    const command = { type: 'read-limits', keyId, nowMs: now } as const
    const read = ofRead(await actors.ask(subWalletAddress(asking), command))
    if (!read.ok) return read
    const answer = { ok: true, value: keepJson(limitsOf(read.value, frozen)) } as const
    kept.set(keyId, { version, day: utcDay(now), frozen, answer })
    return answer
  }

  return ({ key }) => {
    const now = nowMs()
    const version = walletVersions.versionOf(key.subWalletId)
    // Its place among the least used is renewed whenever the actor is asked, which is near enough.
    const last = kept.peek(key.keyId)
    const frozen = freezes.freezeOf(key)
    const isSame = last?.version === version && last.frozen === frozen
    if (isSame && last.day === utcDay(now)) return last.answer
    return ask(key, version, frozen, now)
  }
}

function limitsOf({ above, ...own }: LimitsAnswer, frozen: Freezing | null): Limits {
  const { counters } = own
  const dailyResetsAt = isoTime(dayEndMs(counters.day))
  return {
    ...capsOf(own),
    resets_at: dailyResetsAt,
    daily_resets_at: dailyResetsAt,
    monthly_resets_at: isoTime(monthEndMs(counters.month)),
    reserved_usd: formatUsd(counters.reservedMicros),
    parents: above.map((node) => ({ ...capsOf(node), policy: policyOf(node) })),
    policy: policyOf(own),
    frozen: frozen === null ? null : { ...freezeView(frozen), scope: frozen.scope },
  }
}

function capsOf({ key, counters }: LimitsNode) {
  return {
    daily_limit_usd: USD_CAP.toWire(key.dailyLimitMicros),
    daily_used_usd: formatUsd(counters.dayMicros),
    monthly_limit_usd: USD_CAP.toWire(key.monthlyLimitMicros),
    monthly_used_usd: formatUsd(counters.monthMicros),
  }
}

function policyOf({ key: { policy }, ceilings }: LimitsNode) {
  if (policy === null) return null
  const { perTransactionMicros, fallback } = policy
  return {
    per_transaction_usd: perTransactionMicros === null ? null : formatUsd(perTransactionMicros),
    default: fallback,
    rules: rulesInWords(policy),
    ceilings: ceilings.map(({ ceiling, used, resetsAtMs }) => ({
      chain_id: ceiling.chainId,
      token: ceiling.token,
      per: ceiling.per,
      amount: ceiling.amount.toString(),
      used: used.toString(),
      resets_at: isoTime(resetsAtMs),
    })),
  }
}
