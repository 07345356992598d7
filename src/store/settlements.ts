import type { Hex, TxId } from '../domain/ids.js'
import type { AccountTransaction, BlockRef, MinedIn } from '../domain/transaction.js'
import type { Space, StoreKey } from './checked-space.js'
import { packedRecord } from './encodings/sealing.js'
import { putOf, type Row, removalOf } from './rows.js'

/** Removed in one commit, lowest block first: more than a block of a busy chain brings. */
const REMOVED_AT_ONCE = 1_024

const NO_ROWS: readonly Row[] = []

/** Sorts after every id and every number. */
const AFTER_ALL = '~'

/**
 * Writes down in which block transactions ended, until their chain's watcher says that no reorg can
 * take them back: a start finds there what it has to compare with the chain. One record a block and
 * commit, so that a send costs some 30 bytes and no record of its own.
 * @param ended those that the commit makes final and that are mined
 */
export function settlementsOf(ended: readonly AccountTransaction[]): readonly Row[] {
  if (ended.length === 0) return NO_ROWS
  const byBlock = new Map<Hex, AccountTransaction[]>()
  for (const tx of ended) {
    const hash = tx.mined?.blockHash
    if (hash === undefined) continue
    const there = byBlock.get(hash)
    if (there === undefined) byBlock.set(hash, [tx])
    else there.push(tx)
  }
  return [...byBlock.values()].map((there) => {
    const [{ call, mined, txId, updatedAtMs }] = there as [AccountTransaction]
    const { blockNumber, blockHash } = mined as MinedIn
    // The id and the time tell it from other commits of the block, even after a reorg and back.
    const key = [call.chainId, blockNumber, blockHash, txId, updatedAtMs]
    return putOf('settlements', key, packedRecord(there.map((tx) => tx.txId)))
  })
}

/** Removes those of a chain below a height; what is too much for one commit, the next call does. */
export function settledBelow(settlements: Space, chainId: number, below: number): readonly Row[] {
  const range = { start: [chainId], end: [chainId, below], limit: REMOVED_AT_ONCE }
  return [...settlements.getKeys(range)].map((key) => removalOf('settlements', key))
}

/** Blocks of a chain that transactions ended in, lowest first. */
export function* settledBlocks(settlements: Space, chainId: number): Generator<BlockRef> {
  let start: StoreKey = [chainId]
  for (;;) {
    const [key] = settlements.getKeys({ start, end: [chainId, AFTER_ALL], limit: 1 })
    if (key === undefined) return
    const [, blockNumber, blockHash] = key as [number, number, Hex]
    yield { blockNumber, blockHash }
    start = [chainId, blockNumber, blockHash, AFTER_ALL]
  }
}

/** Those that once ended in that block. */
export function settledIn(
  settlements: Space,
  chainId: number,
  { blockNumber, blockHash }: BlockRef,
): TxId[] {
  const start = [chainId, blockNumber, blockHash]
  const range = settlements.getSound({ start, end: [...start, AFTER_ALL] })
  return [...new Set([...range].flatMap(({ value }) => value as TxId[]))]
}
