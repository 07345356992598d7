import type { ApiKey } from '../../../src/domain/api-key.js'
import type { CapBreach } from '../../../src/domain/spend.js'
import type { LimitMark } from '../../../src/domain/wallet.js'
import { ancestorsOf } from './key-tree.js'
import type { Event } from './messages.js'
import { countersOf, type SubWalletState } from './state.js'

/**
 * When an owner is notified of a cap (`limit.reached`): at 80 % and at 100 % of it, each once per
 * window, even when settlements take the use below the mark and new calls take it above again. A
 * changed cap is reported again.
 */
type LimitReached = Extract<Event, { type: 'limit-reached' }>

const NONE: readonly LimitReached[] = []

/** Per cent, ascending. */
const THRESHOLDS = [80, 100] as const

/**
 * The marks that the use of a key's caps, or of those above it, has reached without a notification.
 * Reservations count as use.
 */
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
 * The marks to report when a cap refused a call. Spec silent: because of gas, a cap is rarely used
 * to the micro-dollar, so the first refusal above 80 % reports the cap as used up. Below 80 % the
 * call was too large.
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

/** The caps that can be used up; a cap of zero is never reported. */
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
