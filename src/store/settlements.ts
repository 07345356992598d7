import type { Hex, TxId } from '../domain/ids.js'
import type { AccountTransaction, BlockRef, MinedIn } from '../domain/transaction.js'
import type { Space, StoreKey } from './checked-space.js'
import { packedRecord } from './encodings/sealing.js'
import { putOf, type Row, removalOf } from './rows.js'

/**
 * Rows that one commit removes, lowest block first. It exceeds what a block of a busy chain adds.
 */
const REMOVED_AT_ONCE = 1_024

const NO_ROWS: readonly Row[] = []

/** Sorts after every id and every number. */
const AFTER_ALL = '~'

/**
 * Records in which block transactions ended, until their chain's watcher reports that no reorg can
 * undo it. A start compares these blocks with the chain. There is one record for each block and
 * commit, so a send costs some 30 bytes and no separate record.
 * @param ended the mined transactions that the commit makes final
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
    // The id and the time distinguish this key from those of other commits for the block, even
    // after a reorg and back.
    const key = [call.chainId, blockNumber, blockHash, txId, updatedAtMs]
    return putOf('settlements', key, packedRecord(there.map((tx) => tx.txId)))
  })
}

/** Removes a chain's records below a height; the next call removes what exceeds one commit. */
export function settledBelow(settlements: Space, chainId: number, below: number): readonly Row[] {
  return [chainId, givenUpOf(chainId)].flatMap((of) => {
    const range = { start: [of], end: [of, below], limit: REMOVED_AT_ONCE }
    return [...settlements.getKeys(range)].map((key) => removalOf('settlements', key))
  })
}

/** Blocks of a chain in which transactions ended, lowest first. */
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

/** Transactions that once ended in that block. */
export function settledIn(
  settlements: Space,
  chainId: number,
  { blockNumber, blockHash }: BlockRef,
): TxId[] {
  const start = [chainId, blockNumber, blockHash]
  const range = settlements.getSound({ start, end: [...start, AFTER_ALL] })
  return [...new Set([...range].flatMap(({ value }) => value as TxId[]))]
}

/** Those that were given up have a range of their own, so that a start finds them among thousands. */
function givenUpOf(chainId: number): string {
  return `given up ${chainId}`
}

/**
 * Writes down that a transaction was given up, since something else had used its nonce by a height.
 * A start watches its hashes again until no reorg reaches that height.
 */
export function givenUpRow({ call, txId, updatedAtMs }: AccountTransaction, height: number): Row {
  const key = [givenUpOf(call.chainId), height, '', txId, updatedAtMs]
  return putOf('settlements', key, packedRecord([txId]))
}

export interface GivenUp {
  readonly txId: TxId
  /** Of the block by which something else had used its nonce. */
  readonly height: number
}

/** Lowest height first. */
export function* givenUpOn(settlements: Space, chainId: number): Generator<GivenUp> {
  const of = givenUpOf(chainId)
  for (const key of settlements.getKeys({ start: [of], end: [of, AFTER_ALL] })) {
    const [, height, , txId] = key as [string, number, string, TxId]
    yield { txId, height }
  }
}
