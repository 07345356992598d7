import type { SendReply } from '../../actors/sub-wallet/send-reply.js'
import type { Hex, TxId } from '../domain/ids.js'
import { currentHash, type Transaction } from '../domain/transaction.js'
import type { Reader } from '../store/reader.js'

/**
 * Remembers sends that were answered as broadcast. Their actor answers when a node has accepted the
 * bytes, some milliseconds before the record tells so. Until then readers here are shown what the
 * caller was told.
 */
export interface AnsweredSends {
  note(sent: Pick<SendReply, 'txId' | 'txHash' | 'broadcast' | 'updatedAtMs'>): void
  /** Reads the same store, but never shows a transaction in an earlier state than was answered. */
  readonly reader: Reader
}

/**
 * Each is kept until at least this many more were answered, which exceeds what can happen during
 * one commit (`WRITES_IN_FLIGHT_MAX`); at most 4 MiB.
 */
const ANSWERED_KEPT = 16_384

interface Answered {
  /** A transaction that is signed again at another nonce has another hash. */
  readonly txHash: Hex
  readonly updatedAtMs: number
}

export function createAnsweredSends(reader: Reader): AnsweredSends {
  // Each is needed for milliseconds and never renewed, so forgetting half of them at a time costs
  // less than keeping an order.
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
