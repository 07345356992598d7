import type { TxId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'

/** What a wallet answers a call that moves value with. */
export class Sent {
  readonly tx: Transaction
  /** Of an earlier call with the same Idempotency-Key. */
  readonly replayed: boolean
  /** The transaction before it that has to leave first; null where it waits for none. */
  readonly queuedBehind: TxId | null

  constructor(tx: Transaction, replayed: boolean, queuedBehind: TxId | null = null) {
    this.tx = tx
    this.replayed = replayed
    this.queuedBehind = queuedBehind
  }
}
