import type { LineageId } from '../../../src/domain/ids.js'
import {
  adjustReservation,
  NO_SPEND,
  type Reservation,
  reserve,
  rollForward,
  settle,
  unsettle,
} from '../../../src/domain/spend.js'
import type { SubWalletState } from './state.js'

/**
 * What stored calls hold of the counters: of their own lineage, and of each above it, in one step.
 * Each is folded in place, and all of them by the same windows.
 */

export function reserveOnPath(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  nowMs: number,
): void {
  const { spend, parents } = state
  for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
    spend.set(at, reserve(rollForward(spend.get(at) ?? NO_SPEND, nowMs), reservation))
  }
}

/** @param micros more than `reservation` held; may be negative */
export function adjustOnPath(
  { spend, parents }: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  micros: bigint,
): void {
  for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
    spend.set(at, adjustReservation(spend.get(at) ?? NO_SPEND, reservation, micros))
  }
}

export function settleOnPath(
  { spend, parents }: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  spentMicros: bigint,
): void {
  for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
    spend.set(at, settle(spend.get(at) ?? NO_SPEND, reservation, spentMicros))
  }
}

export function unsettleOnPath(
  { spend, parents }: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  spentMicros: bigint,
): void {
  for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
    spend.set(at, unsettle(spend.get(at) ?? NO_SPEND, reservation, spentMicros))
  }
}
