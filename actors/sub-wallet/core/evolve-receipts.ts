import type { TxId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import { type OpenEntry, openOf } from '../../account/core/state.js'
import type { Event } from './messages.js'
import { adjustOnPath } from './path-spend.js'
import type { SubWalletState } from './state.js'

type Of<T extends Event['type']> = Extract<Event, { type: T }>

/** Folds what receipts show of open calls, in place. */
export function evolveReceipts(
  state: SubWalletState,
  event: Of<'receipt-asked' | 'receipt-valued' | 'receipt-forgotten'>,
): void {
  const { txId } = event
  if (event.type === 'receipt-asked') {
    const { blockHash, confirmed } = event
    state.receipts.set(txId, { blockHash, isValued: false, confirmed })
    return
  }
  if (event.type === 'receipt-forgotten') {
    forgetReceipt(state, txId)
    return
  }
  const wait = state.receipts.get(txId)
  if (wait !== undefined) state.receipts.set(txId, { ...wait, isValued: true })
  const { beyondMicros } = event
  if (beyondMicros === 0n) return
  const entry = openOf(state, txId)
  hold(state, entry, { ...entry.tx, beyondMicros }, beyondMicros)
}

/** Removes what a receipt showed when its block is gone. */
export function forgetReceipt(state: SubWalletState, txId: TxId): void {
  state.receipts.delete(txId)
  const entry = state.open.get(txId)
  if (entry?.tx.beyondMicros === undefined) return
  const { beyondMicros, ...tx } = entry.tx
  hold(state, entry, tx, -beyondMicros)
}

/** @param micros the additional hold, counted in the windows of the call's reservation */
function hold(
  state: SubWalletState,
  entry: OpenEntry<Transaction>,
  tx: Transaction,
  micros: bigint,
): void {
  const { lineageId, reservation } = tx
  adjustOnPath(state, lineageId, reservation, micros)
  const held = { ...reservation, micros: reservation.micros + micros }
  entry.tx = { ...tx, reservation: held, spentMicros: held.micros }
}
