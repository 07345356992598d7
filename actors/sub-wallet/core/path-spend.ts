import type { LineageId } from '../../../src/domain/ids.js'
import {
  adjustReservation,
  earliestMs,
  leftDayMicros,
  NO_SPEND,
  type Reservation,
  reserve,
  rollForward,
  type SpendCounters,
  settle,
  unsettle,
} from '../../../src/domain/spend.js'
import { addToDay } from '../../../src/domain/spent-days.js'
import type { SubWalletState } from './state.js'

/**
 * Counts what stored calls hold on their lineage and on every lineage above it, in one step. Each
 * counter is folded in place, and all of them use the same windows. A day's total is kept when the
 * next day begins.
 */

/** The earliest time that fits the open windows of the lineage and of those above it. */
export function earliestOnPath({ spend, parents }: SubWalletState, lineageId: LineageId): number {
  let earliest = Number.NEGATIVE_INFINITY
  for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
    const counters = spend.get(at)
    if (counters !== undefined) earliest = Math.max(earliest, earliestMs(counters))
  }
  return earliest
}

/**
 * @param nowMs the time of the decision, and not of the request: an old request time would replace
 * the open windows with earlier ones, and what was spent in them would no longer count
 */
export function reserveOnPath(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  nowMs: number,
): void {
  const { micros } = reservation
  onPath(state, lineageId, reservation, micros, (spend) =>
    reserve(rollForward(spend, nowMs), reservation),
  )
}

/** @param micros the change of what `reservation` held; may be negative */
export function adjustOnPath(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  micros: bigint,
): void {
  onPath(state, lineageId, reservation, micros, (spend) =>
    adjustReservation(spend, reservation, micros),
  )
}

export function settleOnPath(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  spentMicros: bigint,
): void {
  const beyond = spentMicros - reservation.micros
  onPath(state, lineageId, reservation, beyond, (spend) => settle(spend, reservation, spentMicros))
}

export function unsettleOnPath(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  spentMicros: bigint,
): void {
  const back = reservation.micros - spentMicros
  onPath(state, lineageId, reservation, back, (spend) => unsettle(spend, reservation, spentMicros))
}

/** Keeps the day's total when the counters of a lineage are dropped. */
export function leaveDay(state: SubWalletState, lineageId: LineageId): void {
  const { day, dayMicros } = state.spend.get(lineageId) ?? NO_SPEND
  keepDay(state, lineageId, day, dayMicros)
}

/** @param usedMicros how much `change` adds to the window of the reservation */
function onPath(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  usedMicros: bigint,
  change: (spend: SpendCounters) => SpendCounters,
): void {
  const { spend, parents } = state
  for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
    const before = spend.get(at) ?? NO_SPEND
    const after = change(before)
    if (after.day > before.day) leaveDay(state, at)
    spend.set(at, after)
    keepDay(state, at, reservation.day, leftDayMicros(after, reservation, usedMicros))
  }
}

function keepDay(
  { spentDays, changedDays }: SubWalletState,
  lineageId: LineageId,
  day: number,
  micros: bigint,
): void {
  if (micros === 0n) return
  spentDays.set(lineageId, addToDay(spentDays.get(lineageId) ?? [], day, micros))
  changedDays.add(lineageId)
}
