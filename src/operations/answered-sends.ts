import { LRUCache } from 'lru-cache'
import type { SentReply } from '../../actors/sub-wallet/sent.js'
import type { Hex, TxId } from '../domain/ids.js'
import { currentHash, type Transaction } from '../domain/transaction.js'
import type { Reader } from '../store/reader.js'

/**
 * Sends that were answered as broadcast. Their actor answers when a node has taken the bytes,
 * which is some milliseconds before the record says so: until then whoever reads it here is shown
 * what the caller was told.
 */
export interface AnsweredSends {
  note(sent: Pick<SentReply, 'txId' | 'txHash' | 'broadcast' | 'updatedAtMs'>): void
  /** Reads the same store, and shows no transaction as less than it was answered. */
  readonly reader: Reader
}

/** More than can be answered while one commit is under way (`writesInFlightMax`); 2 MiB. */
const ANSWERED_MAX = 16_384

interface Answered {
  /** Signed again at another nonce, it has another. */
  readonly txHash: Hex
  readonly updatedAtMs: number
}

export function createAnsweredSends(reader: Reader): AnsweredSends {
  const answered = new LRUCache<TxId, Answered>({ max: ANSWERED_MAX })

  function current(tx: Transaction): Transaction {
    if (tx.status !== 'signed') return tx
    const known = answered.get(tx.txId)
    if (known === undefined || known.txHash !== currentHash(tx)) return tx
    return { ...tx, status: 'broadcast', updatedAtMs: known.updatedAtMs }
  }

  return {
    note({ txId, txHash, broadcast, updatedAtMs }) {
      if (broadcast) answered.set(txId, { txHash, updatedAtMs })
    },
    reader: {
      ...reader,
      transaction(id) {
        const tx = reader.transaction(id)
        return tx === undefined ? undefined : current(tx)
      },
      transactionsOfUser(user, options, wanted) {
        const page = reader.transactionsOfUser(user, options, (tx) => wanted(current(tx)))
        return { ...page, items: page.items.map(current) }
      },
    },
  }
}
