import type { Receipt } from '../../../src/chains/receipts.js'
import { type Execution, executionIn } from '../../../src/domain/execution.js'
import type { Hex } from '../../../src/domain/ids.js'
import type { BlockRef, MinedIn } from '../../../src/domain/transaction.js'
import type { WatcherEffect } from './messages.js'
import { askAboutUnverified } from './reorgs.js'
import type { WatcherState } from './state.js'
import { isStill } from './still-receipts.js'
import type { Watched } from './watch-list.js'

/**
 * Handles the receipts of our transactions: reports them at once, and again once they are deep
 * enough.
 */
export function receiptsCame(
  state: WatcherState,
  asked: readonly Hex[],
  receipts: readonly (Receipt | null)[],
  effects: WatcherEffect[],
  nowMs: number,
): void {
  const missing = new Map<Watched, number>()
  asked.forEach((hash, i) => {
    const receipt = receipts[i]
    for (const watched of state.watched.withHash(hash)) {
      if (receipt !== null && receipt !== undefined) {
        receiptSeen(state, watched, receipt, effects, nowMs)
      } else missing.set(watched, (missing.get(watched) ?? 0) + 1)
    }
  })
  for (const [{ mined, checked: isChecked, hashes }, count] of missing) {
    // It was mined when last reported, and is in no block now: either a reorg went unseen or the
    // node lags. The block at its height tells which.
    if (mined !== null && !isChecked && count === hashes.length) {
      state.unverified.add(mined.blockNumber)
    }
  }
  askAboutUnverified(state, state.recent.at(-1)?.number ?? 0, effects)
}

function receiptSeen(
  state: WatcherState,
  watched: Watched,
  receipt: Receipt,
  effects: WatcherEffect[],
  nowMs: number,
): void {
  // It is nearly always the newest block.
  const seen = state.recent.findLast(({ number }) => number === receipt.blockNumber)
  // A reorg removed the receipt's block during the request.
  if (seen !== undefined && seen.hash !== receipt.blockHash) return
  if (watched.givenUpAt !== undefined) {
    foundAfterAll(state, watched, effects, nowMs)
    return
  }
  const head = state.recent.at(-1)?.number ?? receipt.blockNumber
  // The block lies below those that were followed: the node may be on a branch that has lost.
  if (seen === undefined && receipt.blockNumber <= head) state.unverified.add(receipt.blockNumber)
  watched.checked = true
  if (watched.mined?.blockHash === receipt.blockHash) return
  const executed = executionIn(receipt.logs)
  const included: MinedIn = {
    // Uses our copy of the hash: hundreds of receipts per block would each keep an equal string of
    // their own.
    txHash: watched.hashes.find((hash) => hash === receipt.txHash) ?? receipt.txHash,
    blockNumber: receipt.blockNumber,
    blockHash: seen?.hash ?? receipt.blockHash,
    outcome: receipt.status,
    feeWei: receipt.feeWei,
  }
  const mined = seenIn(included, executed, isStill(watched.from, receipt))
  state.watched.setMined(watched, mined)
  watched.pendingNotice = mined
  if (deepEnough(state, mined, head)) deepen(state, watched, head, effects, nowMs)
  else {
    const { owner, txId } = watched
    effects.push({ type: 'tell', owner, command: { type: 'mined', txId, mined, nowMs } })
  }
}

/** It was given up and is in a block: its owner takes it up again and has it watched. */
function foundAfterAll(
  state: WatcherState,
  { txId, owner }: Watched,
  effects: WatcherEffect[],
  nowMs: number,
): void {
  state.watched.remove(txId)
  effects.push({ type: 'tell', owner, command: { type: 'unmined', txId, nowMs } })
}

function seenIn(included: MinedIn, executed: Execution | null, still: boolean): MinedIn {
  if (executed !== null) return { ...included, executed }
  return still ? { ...included, isStill: true } : included
}

function deepEnough(state: WatcherState, mined: BlockRef, head: number): boolean {
  return head - mined.blockNumber + 1 >= state.confirmations
}

/** Reports a confirmation. The transaction stays in the list, in case of a reorg. */
export function deepen(
  state: WatcherState,
  watched: Watched,
  head: number,
  effects: WatcherEffect[],
  nowMs: number,
): void {
  const { mined, pendingNotice, checked, txId, owner } = watched
  if (mined === null || !checked || !deepEnough(state, mined, head)) return
  state.watched.settle(watched, mined)
  if (pendingNotice === null) return
  const command = { type: 'confirmed', txId, mined: pendingNotice, nowMs } as const
  effects.push({ type: 'tell', owner, command })
}
