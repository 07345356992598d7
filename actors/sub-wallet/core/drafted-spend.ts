import type { LineageId } from '../../../src/domain/ids.js'
import {
  NO_SPEND,
  type Reservation,
  reserve,
  rollForward,
  settle,
} from '../../../src/domain/spend.js'
import type { SubWalletState } from './state.js'

/** Reservations of requests that a crash would forget, kept apart from those of stored ones. */
export function reserveDraft(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  nowMs: number,
): void {
  const before = rollForward(state.draftSpend.get(lineageId) ?? NO_SPEND, nowMs)
  state.draftSpend.set(lineageId, reserve(before, reservation))
}

export function releaseDraft(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
): void {
  const after = settle(state.draftSpend.get(lineageId) ?? NO_SPEND, reservation, 0n)
  if (after.reservedMicros === 0n) state.draftSpend.delete(lineageId)
  else state.draftSpend.set(lineageId, after)
}
