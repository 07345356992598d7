export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** Minutes of the UTC day. When `to` is not after `from`, it lies on the next day. */
export interface Hours {
  readonly days: readonly Weekday[]
  readonly fromMinute: number
  readonly toMinute: number
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440
/** 1970-01-01 was a Thursday, the fourth day of a week that starts on Monday. */
const EPOCH_WEEKDAY = 3
/** A week and a day: each boundary of a weekly plan lies within it. */
const HORIZON_DAYS = 8

/** Whether a time is in any of the hours. */
export function isWithinHours(hours: readonly Hours[], nowMs: number): boolean {
  const minutes = Math.floor(nowMs / MINUTE_MS)
  const day = Math.floor(minutes / DAY_MINUTES)
  const minute = minutes - day * DAY_MINUTES
  for (const { days, fromMinute, toMinute } of hours) {
    if (fromMinute < toMinute) {
      if (minute >= fromMinute && minute < toMinute && days.includes(weekday(day))) return true
    } else if (minute >= fromMinute ? days.includes(weekday(day)) : minute < toMinute) {
      if (minute >= fromMinute || days.includes(weekday(day - 1))) return true
    }
  }
  return false
}

/**
 * @returns when the result next changes, milliseconds since the Unix epoch; null when it never does
 */
export function hoursChangeAt(hours: readonly Hours[], nowMs: number): number | null {
  const isWithin = isWithinHours(hours, nowMs)
  const today = Math.floor(nowMs / (MINUTE_MS * DAY_MINUTES))
  let soonest: number | null = null
  for (let day = today; day <= today + HORIZON_DAYS; day++) {
    for (const { fromMinute, toMinute } of hours) {
      for (const minute of [fromMinute, toMinute]) {
        const atMs = (day * DAY_MINUTES + minute) * MINUTE_MS
        if (atMs <= nowMs || (soonest !== null && atMs >= soonest)) continue
        if (isWithinHours(hours, atMs) !== isWithin) soonest = atMs
      }
    }
    if (soonest !== null) return soonest
  }
  return null
}

function weekday(day: number): Weekday {
  return WEEKDAYS[(((day + EPOCH_WEEKDAY) % 7) + 7) % 7] ?? 'mon'
}
