import type { TxId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'

/** The answer of a wallet to a call that moves value. */
export class Sent {
  readonly tx: Transaction
  /** True when an earlier call with the same Idempotency-Key was answered. */
  readonly replayed: boolean
  /** The transaction that has to be broadcast first; null when it waits for none. */
  readonly queuedBehind: TxId | null

  constructor(tx: Transaction, replayed: boolean, queuedBehind: TxId | null = null) {
    this.tx = tx
    this.replayed = replayed
    this.queuedBehind = queuedBehind
  }
}
