import type { TxId } from '../domain/ids.js'
import { isFinal, type Transaction } from '../domain/transaction.js'
import { sameBody } from './encodings/transaction.js'

/**
 * Open transactions whose bodies a thread knows; beyond it a transaction is written whole once
 * more.
 */
const BODIES_MAX = 16_384

/**
 * Transactions whose body this thread has written, so that only their state is written when they
 * change. Unknown ones, as after a start, are written whole.
 */
export class WrittenBodies {
  readonly #known = new Map<TxId, Transaction>()

  /**
   * @returns whether its body is in the store unchanged; it is from now on, until the transaction
   * is final
   */
  note(tx: Transaction): boolean {
    const { txId, status } = tx
    const known = this.#known.get(txId)
    const same = known !== undefined && sameBody(known, tx)
    if (isFinal(status)) this.#known.delete(txId)
    // Keeps the newest object, which the actor also has, so that older ones need not stay in
    // memory.
    else this.#keep(tx)
    return same
  }

  /** Call it after a commit that was refused. */
  forgetAll(): void {
    this.#known.clear()
  }

  #keep(tx: Transaction): void {
    this.#known.set(tx.txId, tx)
    if (this.#known.size <= BODIES_MAX) return
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest)
      return
    }
  }
}
