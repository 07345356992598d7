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

/** What one transaction holds of the counters, and where it is booked. */
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
 * Opens the windows of `nowMs`. A clock that steps back opens nothing: the newest window seen
 * stays, so that a step cannot hand out a spent cap again.
 */
export function rollForward(counters: SpendCounters, nowMs: number): SpendCounters {
  return openWindows(counters, utcDay(nowMs), utcMonth(nowMs))
}

function openWindows(counters: SpendCounters, day: number, month: number): SpendCounters {
  if (day <= counters.day && month <= counters.month) return counters
  return {
    day: Math.max(day, counters.day),
    dayMicros: day > counters.day ? 0n : counters.dayMicros,
    month: Math.max(month, counters.month),
    monthMicros: month > counters.month ? 0n : counters.monthMicros,
    reservedMicros: counters.reservedMicros,
  }
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

/** Two sets of counters seen as one; both are rolled forward to the newer window first. */
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
  const { micros, day, month } = reservation
  return book(openWindows(counters, day, month), reservation, micros, micros)
}

/**
 * Ends a reservation with what was really spent (0 releases it). A window that has closed since
 * keeps nothing; the open ones move by the difference.
 */
export function settle(
  counters: SpendCounters,
  reservation: Reservation,
  spentMicros: UsdMicros,
): SpendCounters {
  return book(counters, reservation, spentMicros - reservation.micros, -reservation.micros)
}

/** Takes back a settlement, when a reorg un-mines what was final. */
export function unsettle(
  counters: SpendCounters,
  reservation: Reservation,
  spentMicros: UsdMicros,
): SpendCounters {
  return book(counters, reservation, reservation.micros - spentMicros, reservation.micros)
}

/** @throws Error rather than go below zero: something was released that was not booked */
function book(
  counters: SpendCounters,
  window: Reservation,
  usedDelta: UsdMicros,
  reservedDelta: UsdMicros,
): SpendCounters {
  const { day, month } = counters
  const dayMicros = counters.dayMicros + (window.day === day ? usedDelta : 0n)
  const monthMicros = counters.monthMicros + (window.month === month ? usedDelta : 0n)
  const reservedMicros = counters.reservedMicros + reservedDelta
  if (dayMicros < 0n || monthMicros < 0n || reservedMicros < 0n) {
    throw new Error(
      `spend would go below zero: day ${dayMicros}, month ${monthMicros}, reserved ${reservedMicros}`,
    )
  }
  return { day, dayMicros, month, monthMicros, reservedMicros }
}
