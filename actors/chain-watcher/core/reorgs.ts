import type { Hex } from '../../../src/domain/ids.js'
import type { BlockRef } from '../../../src/domain/transaction.js'
import type { SeenBlock, WatchCommand, WatcherEffect, WatcherEvent } from './messages.js'
import { CHECKED_AT_ONCE, RECENT_BLOCKS_MAX, type WatcherState } from './state.js'
import type { Watched } from './watch-list.js'

/** Takes back every block that is not below `blockNumber`, and notifies the wallets concerned. */
export function rewind(
  state: WatcherState,
  blockNumber: number,
  effects: WatcherEffect[],
  nowMs: number,
): void {
  const highest = state.recent.at(-1)?.number
  if (highest === undefined || highest < blockNumber) return
  const kept = state.recent.filter(({ number }) => number < blockNumber)
  state.recent.length = 0
  state.recent.push(...kept)
  for (const watched of state.watched.minedWithin(blockNumber, highest)) {
    takeBack(state, watched, blockNumber, effects, nowMs)
  }
  recall(state.watched.takeEarlier(blockNumber, highest, null), effects)
}

/**
 * Takes back transactions that are mined at the height of `block` in another block: their receipt
 * came before their block or from another branch, or the chain changed unseen.
 * @returns hashes of what was taken back
 */
export function compare(
  state: WatcherState,
  { number, hash }: SeenBlock,
  effects: WatcherEffect[],
  nowMs: number,
): Hex[] {
  state.unverified.delete(number)
  state.compared.delete(number)
  const displaced = state.watched.minedInOther(number, hash)
  for (const watched of displaced) takeBack(state, watched, number, effects, nowMs)
  recall(state.watched.takeEarlier(number, number, hash), effects)
  return displaced.flatMap(({ hashes }) => hashes)
}

/**
 * Marks everything mined below a height for comparison with the chain, because those blocks were
 * not followed.
 */
export function distrustBelow(state: WatcherState, blockNumber: number): void {
  for (const height of state.watched.minedHeights()) {
    if (height >= blockNumber) continue
    state.unverified.add(height)
    state.compared.delete(height)
  }
}

/**
 * Reads unverified blocks, a limited number at a time; one that no node has waits behind all
 * others.
 */
export function askAboutUnverified(
  state: WatcherState,
  head: number,
  effects: WatcherEffect[],
): void {
  for (const [height, from] of state.compared) if (head >= from) state.unverified.add(height)
  if (state.unverified.size === 0 || state.checking) return
  const numbers: number[] = []
  for (const height of state.unverified) {
    // Above the head there is nothing to compare with yet.
    if (height <= head) numbers.push(height)
    if (numbers.length === CHECKED_AT_ONCE) break
  }
  for (const height of numbers) {
    state.unverified.delete(height)
    state.unverified.add(height)
  }
  if (numbers.length === 0) return
  state.checking = true
  effects.push({ type: 'check-blocks', numbers })
}

/** Handles the blocks that were read; missing ones stay unverified. */
export function checked(
  state: WatcherState,
  blocks: readonly SeenBlock[],
  effects: WatcherEffect[],
  nowMs: number,
): void {
  state.checking = false
  const head = state.recent.at(-1)?.number ?? 0
  const hashes: Hex[] = []
  for (const block of blocks) {
    // A block that was followed since then outweighs this answer.
    const followed = state.recent.find(({ number }) => number === block.number)
    // When it was read early because of a receipt, the answer may come from the same node.
    const isLast = followed !== undefined || head >= (state.compared.get(block.number) ?? Infinity)
    hashes.push(...compare(state, followed ?? block, effects, nowMs))
    if (!isLast) compareAgain(state, block.number, head)
  }
  if (hashes.length > 0) effects.push({ type: 'fetch-receipts', hashes })
}

/**
 * Schedules a second comparison. Nothing links such an answer to the followed blocks, and a node is
 * trusted to lag by no more than the depth that counts as final. Deeper than any reorg, the first
 * answer is enough.
 */
function compareAgain(state: WatcherState, number: number, head: number): void {
  if (head - number < RECENT_BLOCKS_MAX) state.compared.set(number, head + state.confirmations)
}

/** Watches again what had ended in a block that is gone, and notifies its wallet. */
export function recalled(
  state: WatcherState,
  block: BlockRef,
  transactions: readonly WatchCommand[],
  effects: WatcherEffect[],
  nowMs: number,
): void {
  if (state.recent.some(({ hash }) => hash === block.blockHash)) {
    // The block came back while the store was read.
    state.watched.noteEarlier(block)
    return
  }
  const hashes: Hex[] = []
  for (const { txId, owner, from, nonce, hashes: own, mined } of transactions) {
    if (state.watched.get(txId) !== undefined) continue
    const ids = { txId, owner, from, nonce, hashes: own }
    const watched = { ...ids, mined, pendingNotice: null, checked: true, sinceBlock: null }
    state.watched.put(watched)
    takeBack(state, watched, block.blockNumber, effects, nowMs)
    hashes.push(...own)
  }
  // The blocks that have them now may have been followed already.
  if (hashes.length > 0) effects.push({ type: 'fetch-receipts', hashes })
}

function takeBack(
  state: WatcherState,
  watched: Watched,
  blockNumber: number,
  effects: WatcherEffect[],
  nowMs: number,
): void {
  state.watched.setMined(watched, null)
  watched.pendingNotice = null
  watched.checked = true
  watched.sinceBlock = blockNumber
  const { owner, txId } = watched
  const command = { type: 'unmined', txId, nowMs } as const
  effects.push({ type: 'tell', owner, command })
}

/**
 * Forgets what no reorg can reach, unless an unseen reorg may have reached it: the store keeps that
 * until it was compared, however long ago it was.
 */
export function forgetSettled(state: WatcherState): readonly WatcherEvent[] {
  const { chainId, recent, unverified, compared, watched } = state
  let below = (recent.at(-1)?.number ?? 0) - RECENT_BLOCKS_MAX
  for (const height of unverified) below = Math.min(below, height)
  for (const height of compared.keys()) below = Math.min(below, height)
  return watched.forgetSettledBelow(below) ? [{ type: 'settled-forgotten', chainId, below }] : []
}

function recall(blocks: readonly BlockRef[], effects: WatcherEffect[]): void {
  for (const block of blocks) effects.push({ type: 'recall', block })
}
