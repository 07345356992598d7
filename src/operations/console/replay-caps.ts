import type { TxId } from '../../domain/ids.js'
import type { UsdMicros } from '../../domain/money.js'
import {
  capBreach,
  NO_SPEND,
  reserve,
  rollForward,
  type SpendCaps,
  type SpendCounters,
} from '../../domain/spend.js'
import type { Transaction } from '../../domain/transaction.js'

/** A send that the caps would have refused. */
export interface CapRefusal {
  readonly txId: TxId
  readonly createdAtMs: number
  readonly requestedMicros: UsdMicros
  readonly period: 'daily' | 'monthly'
  readonly usedMicros: UsdMicros
}

/** The progress of a replay of a lineage's history. */
export interface CapReplay {
  /** Spend of the sends that would have passed. */
  readonly counters: SpendCounters
}

export const REPLAY_START: CapReplay = { counters: NO_SPEND }

/**
 * Judges one past send by other caps. It requests what it reserved then; one that passes counts
 * with its final spend, because nearly all are settled by now. A refused one counts nothing. Sends
 * must come in the order in which they were made.
 */
export function replayCap(
  { counters }: CapReplay,
  caps: SpendCaps,
  tx: Transaction,
): { readonly next: CapReplay; readonly refusal: CapRefusal | null } {
  const open = rollForward(counters, tx.createdAtMs)
  const requestedMicros = tx.reservation.micros
  const breach = capBreach(open, caps, requestedMicros)
  if (breach !== null) {
    const { period, usedMicros } = breach
    const refusal = {
      txId: tx.txId,
      createdAtMs: tx.createdAtMs,
      requestedMicros,
      period,
      usedMicros,
    }
    return { next: { counters: open }, refusal }
  }
  const reservation = { micros: tx.spentMicros, day: open.day, month: open.month }
  const after = reserve(open, reservation)
  return { next: { counters: { ...after, reservedMicros: 0n } }, refusal: null }
}
