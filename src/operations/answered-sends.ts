import type { SendReply } from '../../actors/sub-wallet/send-reply.js'
import type { Hex, TxId } from '../domain/ids.js'
import { currentHash, type Transaction } from '../domain/transaction.js'
import type { Reader } from '../store/reader.js'

/**
 * Sends that were answered as broadcast. Their actor answers when a node has taken the bytes,
 * which is some milliseconds before the record says so: until then whoever reads it here is shown
 * what the caller was told.
 */
export interface AnsweredSends {
  note(sent: Pick<SendReply, 'txId' | 'txHash' | 'broadcast' | 'updatedAtMs'>): void
  /** Reads the same store, and shows no transaction as less than it was answered. */
  readonly reader: Reader
}

/**
 * Each is kept until so many more were answered, at least: more than can be while one commit is
 * under way (`writesInFlightMax`); 4 MiB at most.
 */
const ANSWERED_KEPT = 16_384

interface Answered {
  /** Signed again at another nonce, it has another. */
  readonly txHash: Hex
  readonly updatedAtMs: number
}

export function createAnsweredSends(reader: Reader): AnsweredSends {
  // Each is wanted for milliseconds and never renewed: to forget by halves costs less than in order.
  let newer = new Map<TxId, Answered>()
  let older = new Map<TxId, Answered>()

  function current(tx: Transaction): Transaction {
    if (tx.status !== 'signed') return tx
    const known = newer.get(tx.txId) ?? older.get(tx.txId)
    if (known === undefined || known.txHash !== currentHash(tx)) return tx
    return { ...tx, status: 'broadcast', updatedAtMs: known.updatedAtMs }
  }

  const shown: Reader = {
    ...reader,
    fresh() {
      reader.fresh()
      return shown
    },
    transactions: {
      ...reader.transactions,
      byId(id) {
        const tx = reader.transactions.byId(id)
        return tx === undefined ? undefined : current(tx)
      },
      ofUser(user, options, wanted) {
        const page = reader.transactions.ofUser(user, options, (tx) => wanted(current(tx)))
        return { ...page, items: page.items.map(current) }
      },
      search: (user, options, filter) => reader.transactions.search(user, options, filter, current),
    },
  }

  return {
    note({ txId, txHash, broadcast, updatedAtMs }) {
      if (!broadcast) return
      newer.set(txId, { txHash, updatedAtMs })
      if (newer.size < ANSWERED_KEPT) return
      older = newer
      newer = new Map()
    },
    reader: shown,
  }
}
