import type { ApiKey } from '../../../src/domain/api-key.js'
import type { CapBreach } from '../../../src/domain/spend.js'
import type { LimitMark } from '../../../src/domain/wallet.js'
import { ancestorsOf } from './key-tree.js'
import type { Event } from './messages.js'
import { countersOf, type SubWalletState } from './state.js'

/**
 * When an owner is notified of a cap (`limit.reached`): at 80 % and at 100 % of it, each once in a
 * window, however often settlements take the use below the mark and new calls above it. Another
 * cap is reported anew.
 */
type LimitReached = Extract<Event, { type: 'limit-reached' }>

const NONE: readonly LimitReached[] = []

/** Per cent, ascending. */
const THRESHOLDS = [80, 100] as const

/** Marks that the use of a key's caps, or of those above it, has come to, reservations included, and nobody was notified of. */
export function limitsCrossed(
  state: SubWalletState,
  keyId: ApiKey['keyId'],
  nowMs: number,
): readonly LimitReached[] {
  const key = state.keys.get(keyId)
  if (key === undefined) return NONE
  const own = crossedBy(state, key, nowMs)
  const above = ancestorsOf(state, key.lineageId)
  return above.length === 0
    ? own
    : [...own, ...above.flatMap((head) => crossedBy(state, head, nowMs))]
}

function crossedBy(state: SubWalletState, key: ApiKey, nowMs: number): readonly LimitReached[] {
  const events: LimitReached[] = []
  for (const cap of capsOf(state, key, nowMs)) {
    for (const percent of THRESHOLDS) {
      if (cap.usedMicros < markOf(cap.limitMicros, percent)) break
      const event = newNotice(state, key, cap, percent, nowMs)
      if (event !== null) events.push(event)
    }
  }
  return events
}

/**
 * The same when a cap has turned a call away. Spec silent: gas makes it rare that a cap is used to
 * the micro-dollar, so the first refusal past 80 % is when it is told as used up. Below, it was the
 * call that was too large.
 */
export function limitsHit(
  state: SubWalletState,
  key: ApiKey,
  breach: CapBreach,
  nowMs: number,
): readonly LimitReached[] {
  const cap = capsOf(state, key, nowMs).find(({ period }) => period === breach.period)
  if (cap === undefined || cap.usedMicros < markOf(cap.limitMicros, THRESHOLDS[0])) return NONE
  const events: LimitReached[] = []
  for (const percent of THRESHOLDS) {
    const event = newNotice(state, key, cap, percent, nowMs)
    if (event !== null) events.push(event)
  }
  return events
}

export function noteLimit(state: SubWalletState, mark: LimitMark): void {
  state.limitNotices.set(noticeKey(mark), mark)
}

type Cap = Pick<LimitMark, 'period' | 'window' | 'limitMicros'> & { readonly usedMicros: bigint }

/** Caps that can be used up: nothing is reported of one of zero. */
function capsOf(state: SubWalletState, key: ApiKey, nowMs: number): readonly Cap[] {
  const { day, dayMicros, month, monthMicros } = countersOf(state, key.lineageId, nowMs)
  const { dailyLimitMicros, monthlyLimitMicros } = key
  const caps: Cap[] = []
  if (dailyLimitMicros !== null && dailyLimitMicros > 0n) {
    const limitMicros = dailyLimitMicros
    caps.push({ period: 'daily', window: day, limitMicros, usedMicros: dayMicros })
  }
  if (monthlyLimitMicros !== null && monthlyLimitMicros > 0n) {
    const limitMicros = monthlyLimitMicros
    caps.push({ period: 'monthly', window: month, limitMicros, usedMicros: monthMicros })
  }
  return caps
}

function newNotice(
  state: SubWalletState,
  { keyId, lineageId }: ApiKey,
  { usedMicros, ...cap }: Cap,
  percent: LimitMark['percent'],
  atMs: number,
): LimitReached | null {
  const mark: LimitMark = { lineageId, ...cap, percent }
  const last = state.limitNotices.get(noticeKey(mark))
  const isKnown =
    last !== undefined &&
    last.window === mark.window &&
    last.limitMicros === mark.limitMicros &&
    last.percent >= percent
  return isKnown ? null : { type: 'limit-reached', keyId, mark, usedMicros, atMs }
}

function markOf(limitMicros: bigint, percent: LimitMark['percent']): bigint {
  return (limitMicros * BigInt(percent)) / 100n
}

function noticeKey({ lineageId, period }: LimitMark): string {
  return `${lineageId}|${period}`
}
