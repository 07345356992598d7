import type { UsdMicros } from './money.js'

/**
 * What a lineage of keys has spent by UTC day, for days that its counters (spend.ts) have left: a
 * day is counted there while it lasts, and moves here when the next one starts, reservations
 * included. Later settlements change it here.
 */
export interface SpentDay {
  /** Days since 1970-01-01 UTC. */
  readonly day: number
  readonly micros: UsdMicros
}

/**
 * The most days with spend that are kept; the oldest are dropped. With today they are the month
 * that is shown.
 */
export const SPENT_DAYS_MAX = 31

/**
 * @param days oldest first
 * @param micros may be negative; no day falls below zero
 */
export function addToDay(
  days: readonly SpentDay[],
  day: number,
  micros: UsdMicros,
): readonly SpentDay[] {
  const at = days.findIndex((one) => one.day >= day)
  const from = at < 0 ? days.length : at
  const found = days[from]
  const isThere = found?.day === day
  const after = (isThere ? found.micros : 0n) + micros
  const kept = after > 0n ? [{ day, micros: after }] : []
  const all = [...days.slice(0, from), ...kept, ...days.slice(isThere ? from + 1 : from)]
  return all.slice(-SPENT_DAYS_MAX)
}
