import { LRUCache } from 'lru-cache'
import { jsonText, keepJson } from '../api/json-text.js'
import type { TransactionView } from '../api/transaction.js'
import { confirmations, transactionView } from '../api/transaction-view.js'
import type { SubWalletId, TxId } from '../domain/ids.js'
import type { MinedIn } from '../domain/transaction.js'
import type { Reader } from '../store/reader.js'

/**
 * Characters of JSON cached, 16 MiB; the views take as much, and their text in its MCP form twice
 * that.
 */
const KEPT_CHARS_MAX = 16 * 1024 * 1024
/** Transactions with more calldata than this are rare, and would displace the others. */
const VIEW_CHARS_MAX = 32 * 1024

interface KeptView {
  /** Version of the record from before it was read. */
  readonly version: number
  readonly subWalletId: SubWalletId
  readonly mined: MinedIn | null
  view: TransactionView
}

interface TransactionViews {
  /** Undefined if the store has no such transaction or it belongs to another sub-wallet. */
  find(id: TxId, owner: SubWalletId): TransactionView | undefined
}

/**
 * Caches views of transactions, which clients poll until they are final. A view is reused as long
 * as no commit has changed its record, without reading the store.
 */
export function createTransactionViews(
  reader: Pick<Reader, 'transactions' | 'fresh'>,
  headOf: (chainId: number) => number | null,
): TransactionViews {
  const kept = new LRUCache<TxId, KeptView>({
    maxSize: KEPT_CHARS_MAX,
    maxEntrySize: VIEW_CHARS_MAX,
    sizeCalculation: ({ view }) => jsonText(view).length,
  })

  function read(id: TxId, version: number): KeptView | undefined {
    // A snapshot from before the version was read could lack the commit that raised it.
    const tx = reader.fresh().transactions.byId(id)
    if (tx === undefined) return undefined
    const { subWalletId, mined } = tx
    const view = keepJson(transactionView(tx, headOf(tx.call.chainId)))
    const entry = { version, subWalletId, mined, view }
    // A send may have been answered as broadcast before its record tells so (`AnsweredSends`).
    if (tx.status !== 'signed') kept.set(id, entry)
    return entry
  }

  return {
    find(id, owner) {
      const version = reader.transactions.versionOf(id)
      const last = kept.get(id)
      const known = last?.version === version ? last : read(id, version)
      if (known === undefined || known.subWalletId !== owner) return undefined
      const confirmed = confirmations(known, headOf(known.view.chain_id))
      if (confirmed !== known.view.confirmations) {
        known.view = keepJson({ ...known.view, confirmations: confirmed })
      }
      return known.view
    },
  }
}
