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

export function utcMonth(nowMs: number): number {
  const date = new Date(nowMs)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
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
  const day = utcDay(nowMs)
  const month = utcMonth(nowMs)
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

/** Books a reservation. Expects rolled-forward counters. */
export function reserve(counters: SpendCounters, reservation: Reservation): SpendCounters {
  return {
    ...counters,
    dayMicros: counters.dayMicros + reservation.micros,
    monthMicros: counters.monthMicros + reservation.micros,
    reservedMicros: counters.reservedMicros + reservation.micros,
  }
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
  const difference = spentMicros - reservation.micros
  return {
    ...counters,
    dayMicros: counters.dayMicros + (reservation.day === counters.day ? difference : 0n),
    monthMicros: counters.monthMicros + (reservation.month === counters.month ? difference : 0n),
    reservedMicros: counters.reservedMicros - reservation.micros,
  }
}
