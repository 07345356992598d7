import type { SubWalletId, TxId, UserId } from '../../domain/ids.js'
import { isSponsored } from '../../domain/sponsorship.js'
import type { BlockRef, Transaction } from '../../domain/transaction.js'
import type { TransactionFilter } from '../../domain/transaction-filter.js'
import { soundly } from '../checked-space.js'
import { decodeTransaction } from '../encodings/transaction.js'
import type { Environment } from '../environment.js'
import { LISTED } from '../key-spaces.js'
import { LAST, newestFirst, type Page, type PageOptions, pageIn } from '../pages.js'
import { type GivenUp, givenUpOn, settledBlocks, settledIn } from '../settlements.js'
import { searchTransactions } from '../transaction-index/search.js'
import type { WalletReader } from './wallets.js'

export interface TransactionReader {
  byId(id: TxId): Transaction | undefined
  /**
   * Changes with the record. Read it before `fresh` and the record; the record is then valid as
   * long as the version stays the same.
   */
  versionOf(id: TxId): number
  /** All transactions with an id from `first` on, oldest first. */
  from(first: string): Generator<Transaction>
  /** A wallet's own and sponsored transactions that are open, newest first. */
  openOfWallet(id: SubWalletId): Generator<Transaction>
  /**
   * Open transactions that wallets sent themselves. It scans all open transactions, so it is used
   * at a start only.
   */
  openOfChain(chainId: number): Generator<Transaction>
  /** Filters with `wanted`; reads on until the page is full, up to PAGE_SCAN_MAX records. */
  ofUser(
    user: UserId,
    options: PageOptions,
    wanted: (tx: Transaction) => boolean,
  ): Page<Transaction>
  /**
   * The transactions that match a filter, by the index: newest first. Like `ofUser`, it may return
   * a short page with a cursor.
   * @param shown returns the record as it is to be matched and shown
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
   * Blocks of a chain in which transactions ended, lowest first. A reorg may have removed some
   * since.
   */
  settledBlocks(chainId: number): Generator<BlockRef>
  /** Transactions that once ended in that block; their records tell their state since. */
  settledIn(chainId: number, block: BlockRef): TxId[]
  /** Those that were given up, lowest height first; what became of them since, their records say. */
  givenUp(chainId: number): Generator<GivenUp>
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
          // A sponsored call is on chain as its gas wallet's transaction, and is watched as that.
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
    givenUp: (chainId) => givenUpOn(spaces.settlements, chainId),
  }
}
