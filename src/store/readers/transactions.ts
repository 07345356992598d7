import type { SubWalletId, TxId, UserId } from '../../domain/ids.js'
import { isSponsored } from '../../domain/sponsorship.js'
import type { BlockRef, Transaction } from '../../domain/transaction.js'
import type { TransactionFilter } from '../../domain/transaction-filter.js'
import { soundly } from '../checked-space.js'
import { decodeTransaction } from '../encodings/transaction.js'
import type { Environment } from '../environment.js'
import { LISTED } from '../key-spaces.js'
import { LAST, newestFirst, type Page, type PageOptions, pageIn } from '../pages.js'
import { settledBlocks, settledIn } from '../settlements.js'
import { searchTransactions } from '../transaction-index/search.js'
import type { WalletReader } from './wallets.js'

export interface TransactionReader {
  byId(id: TxId): Transaction | undefined
  /**
   * Changes with the record. To be taken before `fresh` and the look at the record, which is then
   * good for as long as the version is the same.
   */
  versionOf(id: TxId): number
  /** Every one whose id is not before `first`, oldest first. */
  from(first: string): Generator<Transaction>
  /** A wallet's own and sponsored ones, newest first. */
  openOfWallet(id: SubWalletId): Generator<Transaction>
  /** Those that wallets sent themselves; looks at all that is open, so it is for a start. */
  openOfChain(chainId: number): Generator<Transaction>
  /** `wanted` filters; the page is filled by reading on, up to PAGE_SCAN_MAX records. */
  ofUser(
    user: UserId,
    options: PageOptions,
    wanted: (tx: Transaction) => boolean,
  ): Page<Transaction>
  /**
   * What a filter wants, by the index: newest first, and as `ofUser` it may come short with a cursor.
   * @param shown the record as it is to be judged and given
   */
  search(
    user: UserId,
    options: PageOptions,
    filter: TransactionFilter,
    shown?: (tx: Transaction) => Transaction,
  ): Page<Transaction>
  /** A user's transactions after `afterId`, oldest first. */
  ofUserOldestFirst(user: UserId, afterId: TxId | null): Generator<Transaction>
  /**
   * Blocks of a chain that transactions ended in, lowest first. A reorg may have taken some of
   * them back since.
   */
  settledBlocks(chainId: number): Generator<BlockRef>
  /** Those that once ended in that block; what became of them since, their records say. */
  settledIn(chainId: number, block: BlockRef): TxId[]
}

export function createTransactionReader(
  { spaces, recordVersions, noteDamage }: Environment,
  wallets: WalletReader,
): TransactionReader {
  const ifSound = soundly(noteDamage)

  function byId(id: TxId): Transaction | undefined {
    const stored = spaces.transactions.get(id)
    if (stored === undefined) return undefined
    return decodeTransaction(id, stored, spaces.transactionStates.get(id))
  }

  function openIds(id: SubWalletId): TxId[] {
    const listed = wallets.header(id)?.open ?? []
    const indexed = [...newestFirst(spaces, 'openByWallet', id, null)].filter((it) => it !== LISTED)
    return [...listed, ...(indexed as TxId[])].sort().reverse()
  }

  return {
    byId,
    versionOf: (id) => recordVersions.versionOf(id),
    *from(first) {
      for (const { key, value } of spaces.transactions.getSound({ start: first })) {
        const later = ifSound(() => ({ state: spaces.transactionStates.get(key) }))
        if (later !== undefined) yield decodeTransaction(key as TxId, value, later.state)
      }
    },
    *openOfWallet(id) {
      for (const txId of openIds(id)) {
        const tx = byId(txId)
        if (tx !== undefined) yield tx
      }
    },
    *openOfChain(chainId) {
      for (const key of spaces.openByWallet.getKeys({})) {
        const [wallet, txId] = key as unknown as [SubWalletId, TxId | typeof LISTED]
        for (const id of txId === LISTED
          ? (ifSound(() => wallets.header(wallet)?.open) ?? [])
          : [txId]) {
          const tx = ifSound(() => byId(id))
          // A sponsored call is on chain as its gas wallet's transaction, and watched as that.
          if (tx !== undefined && tx.call.chainId === chainId && !isSponsored(tx.kind)) yield tx
        }
      }
    },
    ofUser: (user, options, wanted) =>
      pageIn(spaces, 'transactionsByUser', user, options, (id) => {
        const tx = byId(id as TxId)
        return tx !== undefined && wanted(tx) ? tx : undefined
      }),
    search: (user, options, filter, shown = (tx) => tx) =>
      searchTransactions(spaces, user, options, filter, (id) => {
        const tx = byId(id)
        return tx === undefined ? undefined : shown(tx)
      }),
    *ofUserOldestFirst(user, afterId) {
      const range = spaces.transactionsByUser.getKeys({
        start: [user, afterId ?? ''],
        end: [user, LAST],
        exclusiveStart: true,
      })
      for (const key of range) {
        const tx = byId((key as unknown as [string, TxId])[1])
        if (tx !== undefined) yield tx
      }
    },
    settledBlocks: (chainId) => settledBlocks(spaces.settlements, chainId),
    settledIn: (chainId, block) => settledIn(spaces.settlements, chainId, block),
  }
}
