import { CLOCK_ERROR_MAX_MS } from './clock.js'
import type { UsdMicros } from './money.js'

/**
 * Spend windows: UTC days and UTC calendar months. `dayMicros` and `monthMicros` include
 * reservations; a reservation stays in the window in which it was made until it settles.
 */
export interface SpendCounters {
  /** Days since 1970-01-01 UTC. */
  readonly day: number
  readonly dayMicros: UsdMicros
  /** year × 12 + month (0–11), UTC. */
  readonly month: number
  readonly monthMicros: UsdMicros
  /** The sum of all open reservations, whatever their window. */
  readonly reservedMicros: UsdMicros
}

export interface SpendCaps {
  /** Null means unlimited. */
  readonly dailyLimitMicros: UsdMicros | null
  readonly monthlyLimitMicros: UsdMicros | null
}

/** The hold of one transaction on the counters, with the windows that contain it. */
export interface Reservation {
  readonly micros: UsdMicros
  readonly day: number
  readonly month: number
}

export interface CapBreach {
  readonly period: 'daily' | 'monthly'
  readonly limitMicros: UsdMicros
  readonly usedMicros: UsdMicros
  readonly reservedMicros: UsdMicros
  readonly requestedMicros: UsdMicros
  readonly resetsAtMs: number
}

const DAY_MS = 86_400_000

export const NO_SPEND: SpendCounters = {
  day: 0,
  dayMicros: 0n,
  month: 0,
  monthMicros: 0n,
  reservedMicros: 0n,
}

export function utcDay(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS)
}

/** Cached, because each send needs it several times and it is the same all day. */
let lastMonth = { day: -1, month: -1 }

export function utcMonth(nowMs: number): number {
  const day = utcDay(nowMs)
  if (day !== lastMonth.day) {
    const date = new Date(nowMs)
    lastMonth = { day, month: date.getUTCFullYear() * 12 + date.getUTCMonth() }
  }
  return lastMonth.month
}

/** Start of the UTC day after `day`. */
export function dayEndMs(day: number): number {
  return (day + 1) * DAY_MS
}

/** Start of the UTC month after `month`. */
export function monthEndMs(month: number): number {
  return Date.UTC(Math.floor((month + 1) / 12), (month + 1) % 12, 1)
}

/**
 * A window that starts later than this after now was not opened by the service's clock
 * (clock/service-clock.ts): the clock is at most one error ahead of the chains when it opens a
 * window and one behind them when it is read again, and the chains may lag by another in between.
 */
const EARLY_MAX_MS = 3 * CLOCK_ERROR_MAX_MS

/**
 * Opens the windows of `nowMs`. A clock that steps back opens nothing: the newest window stays, so
 * that a step cannot make a used cap available again. A window that lies too far in the future
 * comes from a clock that was wrong: its use counts now, and ends with the present window.
 */
export function rollForward(counters: SpendCounters, nowMs: number): SpendCounters {
  const today = utcDay(nowMs)
  const thisMonth = utcMonth(nowMs)
  if (today === counters.day && thisMonth === counters.month) return counters
  const day = windowAt(counters.day, today, dayEndMs(counters.day - 1), nowMs)
  const month = windowAt(counters.month, thisMonth, monthEndMs(counters.month - 1), nowMs)
  return inWindows(counters, day, month)
}

function inWindows(counters: SpendCounters, day: number, month: number): SpendCounters {
  if (day === counters.day && month === counters.month) return counters
  return {
    day,
    dayMicros: day > counters.day ? 0n : counters.dayMicros,
    month,
    monthMicros: month > counters.month ? 0n : counters.monthMicros,
    reservedMicros: counters.reservedMicros,
  }
}

/**
 * The earliest time at which the open windows could have been opened. An earlier time would close
 * them in favour of former windows, and they would later start again with nothing spent.
 */
export function earliestMs({ day, month }: SpendCounters): number {
  return Math.max(dayEndMs(day - 1), monthEndMs(month - 1)) - EARLY_MAX_MS
}

/** The day in which a spend counts when `day` was the last one. */
export function dayCounted(day: number, nowMs: number): number {
  return windowAt(day, utcDay(nowMs), dayEndMs(day - 1), nowMs)
}

/**
 * The change that a reservation's change makes to a day that the counters have left and no longer
 * count.
 */
export function leftDayMicros(
  counters: SpendCounters,
  window: Reservation,
  usedDelta: UsdMicros,
): UsdMicros {
  return window.day < counters.day && !isEarly(counters, window) ? usedDelta : 0n
}

function isEarly({ day, month }: SpendCounters, window: Reservation): boolean {
  return window.day > day || window.month > month
}

function windowAt(open: number, current: number, openSinceMs: number, nowMs: number): number {
  return current > open || openSinceMs > nowMs + EARLY_MAX_MS ? current : open
}

/** The first cap that `requested` would pass, or null. Expects counters that are rolled forward. */
export function capBreach(
  counters: SpendCounters,
  caps: SpendCaps,
  requestedMicros: UsdMicros,
): CapBreach | null {
  const { dailyLimitMicros, monthlyLimitMicros } = caps
  if (dailyLimitMicros !== null && counters.dayMicros + requestedMicros > dailyLimitMicros) {
    return {
      period: 'daily',
      limitMicros: dailyLimitMicros,
      usedMicros: counters.dayMicros,
      reservedMicros: counters.reservedMicros,
      requestedMicros,
      resetsAtMs: dayEndMs(counters.day),
    }
  }
  if (monthlyLimitMicros !== null && counters.monthMicros + requestedMicros > monthlyLimitMicros) {
    return {
      period: 'monthly',
      limitMicros: monthlyLimitMicros,
      usedMicros: counters.monthMicros,
      reservedMicros: counters.reservedMicros,
      requestedMicros,
      resetsAtMs: monthEndMs(counters.month),
    }
  }
  return null
}

/** Combines two sets of counters; both are first rolled to the windows of `nowMs`. */
export function combine(a: SpendCounters, b: SpendCounters, nowMs: number): SpendCounters {
  const x = rollForward(a, nowMs)
  const y = rollForward(b, nowMs)
  const day = Math.max(x.day, y.day)
  const month = Math.max(x.month, y.month)
  return {
    day,
    dayMicros: (x.day === day ? x.dayMicros : 0n) + (y.day === day ? y.dayMicros : 0n),
    month,
    monthMicros:
      (x.month === month ? x.monthMicros : 0n) + (y.month === month ? y.monthMicros : 0n),
    reservedMicros: x.reservedMicros + y.reservedMicros,
  }
}

/**
 * Books a reservation in the windows that it was made for, when they are still open. Newer windows
 * are opened: another lineage saw them before the clock stepped back.
 */
export function reserve(counters: SpendCounters, reservation: Reservation): SpendCounters {
  const { micros } = reservation
  const day = Math.max(counters.day, reservation.day)
  const month = Math.max(counters.month, reservation.month)
  return book(inWindows(counters, day, month), reservation, micros, micros)
}

/**
 * Changes what a stored transaction holds, in the windows of its reservation. It opens and closes
 * no window.
 * @param moreMicros may be negative
 */
export function adjustReservation(
  counters: SpendCounters,
  reservation: Reservation,
  moreMicros: UsdMicros,
): SpendCounters {
  return book(counters, reservation, moreMicros, moreMicros)
}

/**
 * Ends a reservation with the actual spend (0 releases it). A window that has closed since keeps
 * nothing; the open ones change by the difference. It opens and closes no window: only new calls
 * do, by a clock that is verified against the chains, while a call may end at a start before the
 * clock is verified.
 */
export function settle(
  counters: SpendCounters,
  reservation: Reservation,
  spentMicros: UsdMicros,
): SpendCounters {
  return book(counters, reservation, spentMicros - reservation.micros, -reservation.micros)
}

/**
 * Takes back a settlement when a reorg un-mines a final transaction. It may lower the windows: the
 * actual spend can exceed the reservation by a rollup's data fee.
 */
export function unsettle(
  counters: SpendCounters,
  reservation: Reservation,
  spentMicros: UsdMicros,
): SpendCounters {
  return book(counters, reservation, reservation.micros - spentMicros, reservation.micros)
}

/**
 * @throws Error when a reservation falls below zero, because more was released than was reserved
 */
function book(
  counters: SpendCounters,
  window: Reservation,
  usedDelta: UsdMicros,
  reservedDelta: UsdMicros,
): SpendCounters {
  const after = moved(counters, window, usedDelta, reservedDelta)
  const { dayMicros, monthMicros, reservedMicros } = after
  if (reservedMicros < 0n) throw new Error(`reservations would go below zero: ${reservedMicros}`)
  if (dayMicros >= 0n && monthMicros >= 0n) return after
  // A window that was left for a plausible one, and came in the end, was emptied in between.
  return {
    ...after,
    dayMicros: dayMicros < 0n ? 0n : dayMicros,
    monthMicros: monthMicros < 0n ? 0n : monthMicros,
  }
}

/**
 * Moves a count from an implausible window to the present one when it grows. When it shrinks it
 * lowers nothing, since it may have been counted in another window.
 */
function moved(
  counters: SpendCounters,
  window: Reservation,
  usedDelta: UsdMicros,
  reservedDelta: UsdMicros,
): SpendCounters {
  const { day, dayMicros, month, monthMicros, reservedMicros } = counters
  const early = isEarly(counters, window)
  const inDay = early ? usedDelta > 0n : window.day === day
  const inMonth = early ? usedDelta > 0n : window.month === month
  return {
    day,
    dayMicros: dayMicros + (inDay ? usedDelta : 0n),
    month,
    monthMicros: monthMicros + (inMonth ? usedDelta : 0n),
    reservedMicros: reservedMicros + reservedDelta,
  }
}
