import type { LineageId } from '../../../src/domain/ids.js'
import {
  adjustReservation,
  NO_SPEND,
  type Reservation,
  reserve,
  rollForward,
  type SpendCounters,
  settle,
  unsettle,
} from '../../../src/domain/spend.js'
import type { SubWalletState } from './state.js'

/**
 * What stored calls hold of the counters: of their own lineage, and of each above it, in one step.
 * Each is folded in place, and all of them by the same windows.
 */

/**
 * @param nowMs of the decision, and not when the call was asked for: long ago, that would leave the
 * windows that are open for those before them, and what was spent in them would count no more
 */
export function reserveOnPath(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  nowMs: number,
): void {
  onPath(state, lineageId, (spend) => reserve(rollForward(spend, nowMs), reservation))
}

/** @param micros more than `reservation` held; may be negative */
export function adjustOnPath(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  micros: bigint,
): void {
  onPath(state, lineageId, (spend) => adjustReservation(spend, reservation, micros))
}

export function settleOnPath(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  spentMicros: bigint,
): void {
  onPath(state, lineageId, (spend) => settle(spend, reservation, spentMicros))
}

export function unsettleOnPath(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  spentMicros: bigint,
): void {
  onPath(state, lineageId, (spend) => unsettle(spend, reservation, spentMicros))
}

function onPath(
  { spend, parents }: SubWalletState,
  lineageId: LineageId,
  change: (spend: SpendCounters) => SpendCounters,
): void {
  for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
    spend.set(at, change(spend.get(at) ?? NO_SPEND))
  }
}
