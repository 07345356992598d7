import { LRUCache } from 'lru-cache'
import { subWalletAddress } from '../../../actors/addresses.js'
import type { LimitsAnswer, LimitsNode } from '../../../actors/sub-wallet/core/replies.js'
import { describeRules } from '../../api/call-policy.js'
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
import { maxSwapLossBpsOf } from '../../policy/policy.js'
import { freezeView } from '../console/views.js'
import type { AgentHandlers, Answer } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { gasView } from './gas-view.js'

type Limits = OperationOutput<'get_limits'>

/** Keys whose last answer is cached; one takes about 1 kB, and as much again in its MCP form. */
const KEPT_MAX = 10_000

/** The two counters that an answer depends on. Each is found once, because hashing an id costs more than a read. */
interface Versions {
  /** Of the sub-wallet. */
  wallet(): number
  /** Of the sponsored gas that the user's other wallets count. */
  user(): number
}

interface KeptLimits {
  readonly versions: Versions
  /** Both as they were before the actor was asked. */
  readonly walletVersion: number
  readonly userVersion: number
  /** The day of the answer's windows; a month also ends with a day. */
  readonly day: number
  readonly frozen: Freezing | null
  readonly answer: Answer<Limits>
}

/**
 * Asks the actor, because only it knows the reservations of calls under way. Its last answer is
 * reused as long as it has decided nothing since and the day is the same.
 */
export function getLimits(
  ports: Pick<OperationPorts, 'actors' | 'walletVersions' | 'freezes' | 'nowMs'>,
): AgentHandlers['get_limits'] {
  const { actors, walletVersions, freezes, nowMs } = ports
  const kept = new LRUCache<KeyId, KeptLimits>({ max: KEPT_MAX })

  async function ask(asking: ApiKey, versions: Versions, frozen: Freezing | null, now: number) {
    const { keyId } = asking
    const at = { versions, walletVersion: versions.wallet(), userVersion: versions.user(), frozen }
    const command = { type: 'read-limits', keyId, nowMs: now } as const
    const read = ofRead(await actors.ask(subWalletAddress(asking), command))
    if (!read.ok) return read
    const answer = { ok: true, value: keepJson(limitsOf(read.value, frozen, now)) } as const
    kept.set(keyId, { ...at, day: utcDay(now), answer })
    return answer
  }

  const versionsOf = (key: ApiKey): Versions => ({
    wallet: walletVersions.counterOf(key.subWalletId),
    user: walletVersions.counterOf(key.userId),
  })

  return ({ key }) => {
    const now = nowMs()
    // Its place among the least used is renewed whenever the actor is asked, which is near enough.
    const last = kept.peek(key.keyId)
    const frozen = freezes.freezeOf(key)
    if (
      last !== undefined &&
      last.frozen === frozen &&
      last.walletVersion === last.versions.wallet() &&
      last.userVersion === last.versions.user() &&
      last.day === utcDay(now)
    ) {
      return last.answer
    }
    return ask(key, last?.versions ?? versionsOf(key), frozen, now)
  }
}

function limitsOf(
  { above, gas, ...own }: LimitsAnswer,
  frozen: Freezing | null,
  now: number,
): Limits {
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
    sponsored_gas: gasView(gas, now),
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
    max_swap_loss_bps: maxSwapLossBpsOf(policy),
    default: fallback,
    rules: describeRules(policy),
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
