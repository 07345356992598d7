import type { Receipt } from '../../../src/chains/receipts.js'
import { executionIn } from '../../../src/domain/execution.js'
import type { Hex } from '../../../src/domain/ids.js'
import type { BlockRef, MinedIn } from '../../../src/domain/transaction.js'
import type { WatcherEffect } from './messages.js'
import { askAboutUnverified } from './reorgs.js'
import type { WatcherState } from './state.js'
import type { Watched } from './watch-list.js'

/** What receipts say of ours: reported at once, and again once that is deep enough. */
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
    // It was mined when last heard of, and is in no block now: a reorg that nobody watched, or a
    // node that lags. The block at its height says which.
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
  // Nearly always the newest block.
  const seen = state.recent.findLast(({ number }) => number === receipt.blockNumber)
  // A receipt from a block that a reorg took away while we asked.
  if (seen !== undefined && seen.hash !== receipt.blockHash) return
  const head = state.recent.at(-1)?.number ?? receipt.blockNumber
  // Below what was followed: the node that gave it may be on a branch that has lost.
  if (seen === undefined && receipt.blockNumber <= head) state.unverified.add(receipt.blockNumber)
  watched.checked = true
  if (watched.mined?.blockHash === receipt.blockHash) return
  const executed = executionIn(receipt.logs)
  const included: MinedIn = {
    // Hundreds of receipts of a block each have a text of their own that says the same.
    txHash: watched.hashes.find((hash) => hash === receipt.txHash) ?? receipt.txHash,
    blockNumber: receipt.blockNumber,
    blockHash: seen?.hash ?? receipt.blockHash,
    outcome: receipt.status,
    feeWei: receipt.feeWei,
  }
  const mined = executed === null ? included : { ...included, executed }
  state.watched.setMined(watched, mined)
  watched.pendingNotice = mined
  if (deepEnough(state, mined, head)) deepen(state, watched, head, effects, nowMs)
  else {
    const { owner, txId } = watched
    effects.push({ type: 'tell', owner, command: { type: 'mined', txId, mined, nowMs } })
  }
}

function deepEnough(state: WatcherState, mined: BlockRef, head: number): boolean {
  return head - mined.blockNumber + 1 >= state.confirmations
}

/** Tells of a confirmation. It is kept in mind, in case of a reorg. */
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
