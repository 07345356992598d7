import type { LineageId } from '../../../src/domain/ids.js'
import {
  NO_SPEND,
  type Reservation,
  reserve,
  rollForward,
  settle,
} from '../../../src/domain/spend.js'
import type { SubWalletState } from './state.js'

/**
 * Keeps the reservations of drafts, which a crash forgets, apart from those of stored transactions.
 * Both count on the whole path of keys.
 */
export function reserveDraft(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
  nowMs: number,
): void {
  const { draftSpend, parents } = state
  for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
    draftSpend.set(at, reserve(rollForward(draftSpend.get(at) ?? NO_SPEND, nowMs), reservation))
  }
}

export function releaseDraft(
  state: SubWalletState,
  lineageId: LineageId,
  reservation: Reservation,
): void {
  const { draftSpend, parents } = state
  for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
    const after = settle(draftSpend.get(at) ?? NO_SPEND, reservation, 0n)
    if (after.reservedMicros === 0n) draftSpend.delete(at)
    else draftSpend.set(at, after)
  }
}
