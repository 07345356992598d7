import type { BlockSummary } from '../../../src/chains/heads.js'
import type { Hex } from '../../../src/domain/ids.js'
import type { BlockRef } from '../../../src/domain/transaction.js'
import type { Decision } from '../../runtime/actor.js'
import type {
  Owner,
  WatchCommand,
  WatcherCommand,
  WatcherEffect,
  WatcherEvent,
} from './messages.js'
import { deepen, receiptsCame } from './receipts.js'
import {
  askAboutUnverified,
  checked,
  compare,
  distrustBelow,
  forgetSettled,
  recalled,
  rewind,
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
      if (command.block !== null) {
        follow(state, command.block, effects, command.nowMs)
        tellOverdue(state, effects, command.nowMs)
      }
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
      recalled(state, command.block, command.transactions, effects, command.nowMs)
      break
    case 'nonces':
      for (const { owner, nonce } of command.nonces) {
        tellHead(state, owner, nonce, effects, command.nowMs)
      }
      break
  }
  return { events, effects, replies: [] }
}

/** A quarter of a block: an update is at most that old. Chains without our transactions are idle. */
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
    pendingNotice: known === undefined ? mined : known.pendingNotice,
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
  if (state.busy) return
  const [oldest] = state.recent
  if (oldest !== undefined && head.number < oldest.number) {
    lowerHead(state, head, effects, nowMs)
    return
  }
  state.lowerSinceMs = null
  if (isKnown(state, head.hash)) return
  const last = state.recent.at(-1)
  if (last === undefined) distrustBelow(state, head.number)
  if (last === undefined || head.parentHash === last.hash) {
    accept(state, head, effects, nowMs)
    return
  }
  if (head.number > last.number + CATCH_UP_BLOCKS_MAX) {
    goOnFrom(state, head, effects, nowMs)
    return
  }
  // Behind, or on another branch: read what lies between, and a few blocks below the fork.
  const from = head.number > last.number ? Math.max(0, last.number - 2) : head.number - 8
  state.busy = true
  effects.push({ type: 'fetch-blocks', from: Math.max(0, from), to: head.number })
}

/** A node that is so far behind is asked on for this long, in case a better one comes back. */
const LOWER_HEADS_MS = 60_000

/**
 * Below all blocks that are known there is nothing to compare it with: most likely the node lags.
 * It un-mines nothing. Once there is nothing else to follow, it is followed, and what is mined is
 * taken back only where another block is seen at its height.
 */
function lowerHead(
  state: WatcherState,
  head: BlockSummary,
  effects: WatcherEffect[],
  nowMs: number,
): void {
  state.lowerSinceMs ??= nowMs
  if (nowMs - state.lowerSinceMs < LOWER_HEADS_MS) return
  state.lowerSinceMs = null
  goOnFrom(state, head, effects, nowMs)
}

/** What lies between is not read: blocks with ours are compared by number, receipts asked for by hash. */
function goOnFrom(
  state: WatcherState,
  head: BlockSummary,
  effects: WatcherEffect[],
  nowMs: number,
): void {
  state.recent.length = 0
  distrustBelow(state, head.number)
  for (const watched of state.watched.open()) watched.checked = watched.mined === null
  accept(state, head, effects, nowMs)
  sweep(state, effects)
}

function catchUp(
  state: WatcherState,
  blocks: readonly BlockSummary[],
  effects: WatcherEffect[],
  nowMs: number,
): void {
  state.busy = false
  const [first] = blocks
  const [oldest] = state.recent
  // Nodes on two branches answered, or the chain changed while it was read: asked again.
  if (first === undefined || oldest === undefined || !linked(blocks)) return
  // After a pause only the newest block is known, and what lies below it is no fork: taken for one,
  // it would un-mine what is confirmed.
  const link = blocks.findIndex(({ hash }) => isKnown(state, hash))
  if (link < 0 && !isKnown(state, first.parentHash)) {
    if (first.number > oldest.number) {
      // The fork lies deeper than was read: go further down.
      state.busy = true
      const depth = Math.max(16, (state.recent.at(-1)?.number ?? first.number) - first.number) * 2
      const to = blocks.at(-1)?.number ?? first.number
      effects.push({ type: 'fetch-blocks', from: Math.max(0, first.number - depth), to })
      return
    }
    // Only another block at a height that is known is a fork; it may lie below all that is known.
    if (!blocks.some(({ number }) => number === oldest.number)) return
    distrustBelow(state, first.number)
    rewind(state, oldest.number, effects, nowMs)
  }
  for (const block of link > 0 ? blocks.slice(link) : blocks) {
    if (isKnown(state, block.hash)) continue
    rewind(state, block.number, effects, nowMs)
    const below = state.recent.at(-1)
    // The chain changed while it was read; what follows belongs to another branch.
    if (below !== undefined && below.hash !== block.parentHash) return
    accept(state, block, effects, nowMs)
  }
}

function linked(blocks: readonly BlockSummary[]): boolean {
  return blocks.every(({ parentHash }, at) => at === 0 || blocks[at - 1]?.hash === parentHash)
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
  for (const watched of state.watched.open()) {
    // A height that was seen at a node ahead of those that are asked now is no age.
    watched.sinceBlock = Math.min(watched.sinceBlock ?? block.number, block.number)
    if (watched.mined !== null) deepen(state, watched, block.number, effects, nowMs)
  }
  tellWaiting(state, effects, nowMs)
  sweepOverdue(state, block.number, OVERDUE_BLOCKS, effects)
  askAboutUnverified(state, block.number, effects)
}

/** Of each wallet with something that is not mined. */
function tellWaiting(state: WatcherState, effects: WatcherEffect[], nowMs: number): void {
  state.notifiedAtMs = nowMs
  const waiting = new Set<Owner>()
  for (const { mined, owner } of state.watched.open()) if (mined === null) waiting.add(owner)
  for (const owner of waiting) tellHead(state, owner, null, effects, nowMs)
}

/** Blocks that do not come in this many block times may be a node's that lags. */
const SILENT_BLOCKS = 2
/** No sooner on fast chains. */
const SILENT_MS_MIN = 2_000

/**
 * Lanes are not to stop because the nodes that answer have nothing new: pools forget anyway,
 * and receipts may be had of a node whose head is behind.
 */
function tellOverdue(state: WatcherState, effects: WatcherEffect[], nowMs: number): void {
  const head = state.recent.at(-1)
  const silentMs = Math.max(SILENT_MS_MIN, SILENT_BLOCKS * state.blockTimeMs)
  if (head === undefined || nowMs - state.notifiedAtMs < silentMs) return
  tellWaiting(state, effects, nowMs)
  sweepOverdue(state, head.number, 0, effects)
  askAboutUnverified(state, head.number, effects)
}

/** Ours, wallet by wallet: what a wallet hears at once it stores at once. */
function hitsOf(state: WatcherState, block: BlockSummary): Hex[] {
  const byOwner = new Map<Owner, Hex[]>()
  for (const hash of block.txHashes) {
    // Of several with the same bytes, all are one account's.
    const owner = state.watched.withHash(hash)[0]?.owner
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
function sweepOverdue(
  state: WatcherState,
  blockNumber: number,
  afterBlocks: number,
  effects: WatcherEffect[],
): void {
  const hashes: Hex[] = []
  const asked: Watched[] = []
  for (const watched of state.watched.open()) {
    if (hashes.length >= SWEEP_MAX) break
    const { mined, checked, sinceBlock } = watched
    if (mined !== null && checked) continue
    if (sinceBlock === null || blockNumber < sinceBlock + afterBlocks) continue
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
  effects.push({ type: 'fetch-receipts', hashes: [...new Set(hashes)] })
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
  if (hashes.length > 0) effects.push({ type: 'fetch-receipts', hashes: [...new Set(hashes)] })
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
function finalBlock({ recent, confirmations }: WatcherState): BlockRef | null {
  const found = recent.at(-1 - Math.min(confirmations, RECENT_BLOCKS_MAX - 1))
  return found === undefined ? null : { blockNumber: found.number, blockHash: found.hash }
}
