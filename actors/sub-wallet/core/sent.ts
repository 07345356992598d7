import type { Transaction } from '../../../src/domain/transaction.js'

/** What a wallet answers a call that moves value with. */
export class Sent {
  readonly tx: Transaction
  /** Of an earlier call with the same Idempotency-Key. */
  readonly replayed: boolean

  constructor(tx: Transaction, replayed: boolean) {
    this.tx = tx
    this.replayed = replayed
  }
}
