import { CLOCK_ERROR_MAX_MS } from './clock.js'
import type { UsdMicros } from './money.js'

/**
 * Spend windows: UTC days and UTC calendar months. `dayMicros` and `monthMicros` include what is
 * reserved; a reservation stays in the window in which it was made until it settles.
 */
export interface SpendCounters {
  /** Days since 1970-01-01 UTC. */
  readonly day: number
  readonly dayMicros: UsdMicros
  /** year × 12 + month (0–11), UTC. */
  readonly month: number
  readonly monthMicros: UsdMicros
  /** Sum of all open reservations, of whatever window. */
  readonly reservedMicros: UsdMicros
}

export interface SpendCaps {
  /** null is unlimited. */
  readonly dailyLimitMicros: UsdMicros | null
  readonly monthlyLimitMicros: UsdMicros | null
}

/** What one transaction holds of the counters, and in which windows. */
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

/** Asked several times for each send, and the same all day. */
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
 * A window that begins later than this after now was never opened by the service's clock
 * (clock/service-clock.ts): that is at most one error ahead of the chains when it opens one, one
 * behind them when it is asked again, and they may lag by another in between.
 */
const EARLY_MAX_MS = 3 * CLOCK_ERROR_MAX_MS

/**
 * Opens the windows of `nowMs`. A clock that steps back opens nothing: the newest window stays, so
 * that a step cannot hand out a spent cap again. A window of a time that cannot be yet is of a
 * clock that was wrong: what it has used counts now, and ends with the window of now.
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
 * Of a time before this the windows that are open could not have been opened: it would close them for
 * those before, and leave them to be opened anew.
 */
export function earliestMs({ day, month }: SpendCounters): number {
  return Math.max(dayEndMs(day - 1), monthEndMs(month - 1)) - EARLY_MAX_MS
}

/** The day that is counted in, where `day` was the last one. */
export function dayCounted(day: number, nowMs: number): number {
  return windowAt(day, utcDay(nowMs), dayEndMs(day - 1), nowMs)
}

/** What a change of a reservation is to a day that the counters have left, and count no more. */
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

/** The first cap that `requested` more would pass, or null. Expects rolled-forward counters. */
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

/** Two sets of counters seen as one; both are rolled to the windows of `nowMs` first. */
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
 * Books a reservation in the windows it was made for, where they are still open. Newer ones are
 * opened: they were seen elsewhere, before the clock stepped back.
 */
export function reserve(counters: SpendCounters, reservation: Reservation): SpendCounters {
  const { micros } = reservation
  const day = Math.max(counters.day, reservation.day)
  const month = Math.max(counters.month, reservation.month)
  return book(inWindows(counters, day, month), reservation, micros, micros)
}

/**
 * Changes what a stored transaction holds, in the windows of its reservation. Like its end it opens
 * and closes none.
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
 * Ends a reservation with what was really spent (0 releases it). A window that has closed since
 * keeps nothing; the open ones move by the difference. It opens and closes none: what is begun does,
 * by a time that the chains bear out, while what ends may do so at a start before they have.
 */
export function settle(
  counters: SpendCounters,
  reservation: Reservation,
  spentMicros: UsdMicros,
): SpendCounters {
  return book(counters, reservation, spentMicros - reservation.micros, -reservation.micros)
}

/**
 * Takes back a settlement, when a reorg un-mines what was final. It may take off the windows: what
 * was really spent can be more than was reserved, by a rollup's fee for its data.
 */
export function unsettle(
  counters: SpendCounters,
  reservation: Reservation,
  spentMicros: UsdMicros,
): SpendCounters {
  return book(counters, reservation, reservation.micros - spentMicros, reservation.micros)
}

/** @throws Error for reservations below zero: something was released that was not reserved */
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
  // A window that was left for one that could be, and came in the end, was emptied in between.
  return {
    ...after,
    dayMicros: dayMicros < 0n ? 0n : dayMicros,
    monthMicros: monthMicros < 0n ? 0n : monthMicros,
  }
}

/**
 * What was counted in a window that cannot be yet counts in the present one when it becomes more.
 * When it becomes less it takes nothing off, since it may have been counted in another.
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
