import type { BlockSummary } from '../../src/chains/heads.js'
import type { Receipt } from '../../src/chains/receipts.js'
import type { Hex } from '../../src/domain/ids.js'
import type { MinedIn, Place } from '../../src/domain/transaction.js'
import type { Decision } from '../runtime/actor.js'
import type {
  Owner,
  WatchCommand,
  WatcherCommand,
  WatcherEffect,
  WatcherEvent,
} from './messages.js'
import {
  askAboutDoubts,
  checked,
  compare,
  doubtBelow,
  forgetSettled,
  recalled,
  rewind,
  takeBack,
} from './reorgs.js'
import { CATCH_UP_BLOCKS_MAX, RECENT_BLOCKS_MAX, SWEEP_MAX, type WatcherState } from './state.js'
import type { Watched } from './watch-list.js'

/**
 * Follows one chain: block by block, by parent hash. A block's list of hashes says which of our
 * transactions to ask a receipt for, so the cost grows with blocks and open transactions, never
 * with wallets. The state is changed in place, and rebuilt at a start from what wallets stored.
 */
export function decide(
  state: WatcherState,
  command: WatcherCommand,
): Decision<WatcherEvent, WatcherEffect> {
  const effects: WatcherEffect[] = []
  let events: readonly WatcherEvent[] = []
  switch (command.type) {
    case 'start':
      if (!state.started) {
        state.started = true
        effects.push({ type: 'poll', afterMs: 0 })
        sweep(state, effects)
      }
      break
    case 'watch':
      watch(state, command)
      break
    case 'unwatch':
      state.watched.remove(command.txId)
      break
    case 'latest':
      effects.push({ type: 'poll', afterMs: pollAfterMs(state) })
      if (command.block !== null) follow(state, command.block, effects, command.nowMs)
      events = forgetSettled(state)
      break
    case 'blocks':
      catchUp(state, command.blocks, effects, command.nowMs)
      events = forgetSettled(state)
      break
    case 'receipts':
      if (command.receipts !== null)
        receiptsCame(state, command.asked, command.receipts, effects, command.nowMs)
      break
    case 'checked':
      checked(state, command.blocks, effects, command.nowMs)
      break
    case 'recalled':
      recalled(state, command.place, command.transactions, effects, command.nowMs)
      break
    case 'nonces':
      for (const { owner, nonce } of command.nonces) {
        tellHead(state, owner, nonce, effects, command.nowMs)
      }
      break
  }
  return { events, effects, replies: [] }
}

/** A quarter of a block: news is at most that old. Chains without our transactions are idle. */
function pollAfterMs(state: WatcherState): number {
  const quarter = Math.min(1_000, Math.max(100, state.blockTimeMs / 4))
  return state.watched.openCount > 0 ? quarter : quarter * 2
}

function watch(state: WatcherState, command: WatchCommand): void {
  const { txId, owner, from, nonce, hashes, mined } = command
  const known = state.watched.get(txId)
  const watched: Watched = {
    txId,
    owner,
    from,
    nonce,
    hashes,
    mined: known === undefined ? mined : known.mined,
    untold: known === undefined ? mined : known.untold,
    checked: known === undefined ? mined === null : known.checked,
    sinceBlock: known?.sinceBlock ?? null,
  }
  state.watched.put(watched)
}

function follow(
  state: WatcherState,
  head: BlockSummary,
  effects: WatcherEffect[],
  nowMs: number,
): void {
  const last = state.recent.at(-1)
  if (state.busy || isKnown(state, head.hash)) return
  if (last === undefined) doubtBelow(state, head.number)
  if (last === undefined || head.parentHash === last.hash) {
    accept(state, head, effects, nowMs)
    return
  }
  if (head.number > last.number + CATCH_UP_BLOCKS_MAX) {
    state.recent.length = 0
    doubtBelow(state, head.number)
    for (const watched of state.watched.open()) watched.checked = watched.mined === null
    accept(state, head, effects, nowMs)
    sweep(state, effects)
    return
  }
  // Behind, or on another branch: read what lies between, and a few blocks below the fork.
  const from = head.number > last.number ? Math.max(0, last.number - 2) : head.number - 8
  state.busy = true
  effects.push({ type: 'fetch-blocks', from: Math.max(0, from), to: head.number })
}

function catchUp(
  state: WatcherState,
  blocks: readonly BlockSummary[],
  effects: WatcherEffect[],
  nowMs: number,
): void {
  state.busy = false
  const first = blocks[0]
  if (first === undefined) return
  const known = state.recent.findIndex(
    ({ hash }) => hash === first.hash || hash === first.parentHash,
  )
  const oldest = state.recent[0]
  if (known < 0 && oldest !== undefined && first.number > oldest.number) {
    // The fork lies deeper than was read: go further down.
    state.busy = true
    const depth = Math.max(16, (state.recent.at(-1)?.number ?? first.number) - first.number) * 2
    const to = blocks.at(-1)?.number ?? first.number
    effects.push({ type: 'fetch-blocks', from: Math.max(0, first.number - depth), to })
    return
  }
  // After a pause only the newest block is known, and what lies below it is no fork: taken for one,
  // it would un-mine what is confirmed.
  const link = blocks.findIndex(({ hash }) => isKnown(state, hash))
  // The fork may lie below all that is known.
  if (known < 0 && link < 0) doubtBelow(state, first.number)
  for (const block of link > 0 ? blocks.slice(link) : blocks) {
    if (isKnown(state, block.hash)) continue
    rewind(state, block.number, effects, nowMs)
    const below = state.recent.at(-1)
    // The chain changed while it was read; what follows belongs to another branch.
    if (below !== undefined && below.hash !== block.parentHash) return
    accept(state, block, effects, nowMs)
  }
}

function isKnown(state: WatcherState, hash: Hex): boolean {
  return state.recent.some((seen) => seen.hash === hash)
}

function accept(
  state: WatcherState,
  block: BlockSummary,
  effects: WatcherEffect[],
  nowMs: number,
): void {
  state.recent.push({ number: block.number, hash: block.hash })
  if (state.recent.length > RECENT_BLOCKS_MAX) state.recent.shift()
  effects.push({ type: 'announce', head: block })
  compare(state, block, effects, nowMs)
  const hits = hitsOf(state, block)
  if (hits.length > 0) effects.push({ type: 'fetch-receipts', hashes: hits })
  const waiting = new Map<Owner, Watched>()
  for (const watched of state.watched.open()) {
    watched.sinceBlock ??= block.number
    if (watched.mined !== null) deepen(state, watched, block.number, effects, nowMs)
    else if (!waiting.has(watched.owner)) waiting.set(watched.owner, watched)
  }
  for (const watched of waiting.values()) {
    tellHead(state, watched.owner, null, effects, nowMs)
  }
  sweepOverdue(state, block.number, effects)
  askAboutDoubts(state, block.number, effects)
}

/** Ours, wallet by wallet: what a wallet is told in one go it stores in one go. */
function hitsOf(state: WatcherState, block: BlockSummary): Hex[] {
  const byOwner = new Map<Owner, Hex[]>()
  for (const hash of block.txHashes) {
    const owner = state.watched.withHash(hash)?.owner
    if (owner === undefined) continue
    const known = byOwner.get(owner)
    if (known === undefined) byOwner.set(owner, [hash])
    else known.push(hash)
  }
  return [...byOwner.values()].flat()
}

/** Waiting this many blocks for a receipt is longer than a block's list of hashes should take. */
const OVERDUE_BLOCKS = 3

/**
 * Asks by hash, and by account, for what has waited long: a block may have been missed, or the
 * nonce used by something else. Who was asked for goes to the end, so that everyone has a turn.
 */
function sweepOverdue(state: WatcherState, blockNumber: number, effects: WatcherEffect[]): void {
  const hashes: Hex[] = []
  const asked: Watched[] = []
  for (const watched of state.watched.open()) {
    if (hashes.length >= SWEEP_MAX) break
    const { mined, checked, sinceBlock } = watched
    if (mined !== null && checked) continue
    if (sinceBlock === null || blockNumber < sinceBlock + OVERDUE_BLOCKS) continue
    hashes.push(...watched.hashes)
    asked.push(watched)
  }
  if (asked.length === 0) return
  const accounts = new Map<Owner, Watched>()
  for (const watched of asked) {
    watched.sinceBlock = blockNumber
    state.watched.moveToEnd(watched)
    accounts.set(watched.owner, watched)
  }
  effects.push({ type: 'fetch-receipts', hashes })
  effects.push({
    type: 'fetch-nonces',
    accounts: [...accounts.values()].map(({ owner, from }) => ({ owner, address: from })),
  })
}

/** Asks for all that no block since the last one seen could tell. */
function sweep(state: WatcherState, effects: WatcherEffect[]): void {
  const hashes: Hex[] = []
  for (const { mined, checked, hashes: own } of state.watched.open()) {
    if (mined === null || !checked) hashes.push(...own)
  }
  if (hashes.length > 0) effects.push({ type: 'fetch-receipts', hashes })
}

function receiptsCame(
  state: WatcherState,
  asked: readonly Hex[],
  receipts: readonly (Receipt | null)[],
  effects: WatcherEffect[],
  nowMs: number,
): void {
  const missing = new Map<Watched, number>()
  asked.forEach((hash, i) => {
    const receipt = receipts[i]
    const watched = state.watched.withHash(hash)
    if (watched === undefined) return
    if (receipt !== null && receipt !== undefined) {
      receiptSeen(state, watched, receipt, effects, nowMs)
    } else missing.set(watched, (missing.get(watched) ?? 0) + 1)
  })
  const head = state.recent.at(-1)?.number ?? 0
  for (const [watched, count] of missing) {
    // It was mined when last heard of, and is in no block now: a reorg that nobody watched.
    if (watched.mined === null || watched.checked || count < watched.hashes.length) continue
    takeBack(state, watched, head, effects, nowMs)
  }
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
  watched.checked = true
  if (watched.mined?.blockHash === receipt.blockHash) return
  const mined: MinedIn = {
    // Hundreds of receipts of a block each have a text of their own that says the same.
    txHash: watched.hashes.find((hash) => hash === receipt.txHash) ?? receipt.txHash,
    blockNumber: receipt.blockNumber,
    blockHash: seen?.hash ?? receipt.blockHash,
    outcome: receipt.status,
    feeWei: receipt.feeWei,
  }
  state.watched.setMined(watched, mined)
  watched.untold = mined
  const head = state.recent.at(-1)?.number ?? receipt.blockNumber
  if (deepEnough(state, mined, head)) deepen(state, watched, head, effects, nowMs)
  else {
    const { owner, txId } = watched
    effects.push({ type: 'tell', owner, command: { type: 'mined', txId, mined, nowMs } })
  }
}

function deepEnough(state: WatcherState, mined: Place, head: number): boolean {
  return head - mined.blockNumber + 1 >= state.confirmations
}

/** Tells of a confirmation. It is kept in mind, in case of a reorg. */
function deepen(
  state: WatcherState,
  watched: Watched,
  head: number,
  effects: WatcherEffect[],
  nowMs: number,
): void {
  const { mined, untold, checked, txId, owner } = watched
  if (mined === null || !checked || !deepEnough(state, mined, head)) return
  state.watched.settle(watched, mined)
  if (untold === null) return
  const command = { type: 'confirmed', txId, mined: untold, nowMs } as const
  effects.push({ type: 'tell', owner, command })
}

function tellHead(
  state: WatcherState,
  owner: Owner,
  chainNonce: number | null,
  effects: WatcherEffect[],
  nowMs: number,
): void {
  const blockNumber = state.recent.at(-1)?.number ?? 0
  const { chainId } = state
  const command = {
    type: 'head',
    chainId,
    blockNumber,
    fees: null,
    gasPriceWei: null,
    chainNonce,
    finalBlock: finalBlock(state),
    nowMs,
  } as const
  effects.push({ type: 'tell', owner, command })
}

/**
 * The newest block with so many on top, each linked to the one below, that what is in it counts as
 * there to stay. A chain that wants more than is remembered has the oldest of what is.
 */
function finalBlock({ recent, confirmations }: WatcherState): Place | null {
  const found = recent.at(-1 - Math.min(confirmations, RECENT_BLOCKS_MAX - 1))
  return found === undefined ? null : { blockNumber: found.number, blockHash: found.hash }
}
