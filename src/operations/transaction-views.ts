import { LRUCache } from 'lru-cache'
import { keepJson } from '../api/json-text.js'
import type { TransactionView } from '../api/transaction.js'
import { confirmations, transactionView } from '../api/transaction-view.js'
import type { SubWalletId, TxId } from '../domain/ids.js'
import type { MinedIn } from '../domain/transaction.js'
import type { Reader } from '../store/reader.js'

/** Bytes of stored records kept, 16 MiB; their views take about as much again. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024
/** Records with more calldata than this are rare, and would crowd out the others. */
const RECORD_BYTES_MAX = 16 * 1024

interface KeptView {
  /** The record as stored when the view was made. */
  readonly bytes: Uint8Array
  readonly subWalletId: SubWalletId
  readonly mined: MinedIn | null
  view: TransactionView
}

export interface TransactionViews {
  /** Undefined where the store has no such transaction, or it is another sub-wallet's. */
  find(id: TxId, owner: SubWalletId): TransactionView | undefined
}

/**
 * Views of transactions that are asked for again and again until they are final. Each look reads
 * the stored record; a view is given again only while the record's bytes are the same, so that
 * nothing has to be told when one changes.
 */
export function createTransactionViews(
  reader: Pick<Reader, 'transaction' | 'transactionBytes'>,
  headOf: (chainId: number) => number | null,
): TransactionViews {
  const kept = new LRUCache<TxId, KeptView>({
    maxSize: KEPT_BYTES_MAX,
    maxEntrySize: RECORD_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes.length,
  })

  function read(id: TxId, bytes: Uint8Array): KeptView | undefined {
    const tx = reader.transaction(id)
    if (tx === undefined) return undefined
    const { subWalletId, mined } = tx
    const view = keepJson(transactionView(tx, headOf(tx.chainId)))
    const entry = { bytes, subWalletId, mined, view }
    kept.set(id, entry)
    return entry
  }

  return {
    find(id, owner) {
      const stored = reader.transactionBytes(id)
      if (stored === undefined) return undefined
      const known = kept.get(id)
      if (
        known === undefined ||
        stored.compare(known.bytes, 0, known.bytes.length, 0, stored.length) !== 0
      ) {
        // A copy, since the next read may use the same memory.
        const entry = read(id, Uint8Array.prototype.slice.call(stored, 0, stored.length))
        return entry?.subWalletId === owner ? entry.view : undefined
      }
      if (known.subWalletId !== owner) return undefined
      const confirmed = confirmations(known, headOf(known.view.chain_id))
      if (confirmed !== known.view.confirmations) {
        known.view = keepJson({ ...known.view, confirmations: confirmed })
      }
      return known.view
    },
  }
}
