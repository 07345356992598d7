import type { BlockSummary } from '../../../src/chains/heads.js'
import type { Hex } from '../../../src/domain/ids.js'
import type { BlockRef } from '../../../src/domain/transaction.js'
import type { Decision } from '../../runtime/actor.js'
import type {
  GiveUpCommand,
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
 * Follows one chain block by block, by parent hash. The transaction hashes of a block show which
 * receipts to request, so the cost grows with blocks and open transactions, never with wallets. The
 * state is changed in place, and rebuilt at a start from what wallets stored.
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
    case 'give-up':
      giveUp(state, command)
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

/**
 * A quarter of the block time, so that an update is at most that old. Chains without our
 * transactions are polled half as often.
 */
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

function giveUp(state: WatcherState, command: GiveUpCommand): void {
  const { txId, owner, from, nonce, hashes, height } = command
  const ids = { txId, owner, from, nonce, hashes }
  const rest = { mined: null, pendingNotice: null, checked: true, sinceBlock: null }
  state.watched.giveUp({ ...ids, ...rest, givenUpAt: height })
}

/** Blocks between two times at which receipts of what was given up are asked for. */
const GIVEN_UP_BLOCKS = 16

/** By hash: the block that has it may lie below those that are followed. */
function askAboutGivenUp(state: WatcherState, head: number, effects: WatcherEffect[]): void {
  const hashes: Hex[] = []
  for (const watched of state.watched.givenUp()) {
    if (hashes.length >= SWEEP_MAX) break
    if (head < (watched.sinceBlock ?? 0) + GIVEN_UP_BLOCKS) continue
    watched.sinceBlock = head
    hashes.push(...watched.hashes)
  }
  if (hashes.length > 0) effects.push({ type: 'fetch-receipts', hashes })
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
  // The watcher is behind or on another branch: it reads the blocks in between and a few below the
  // fork.
  const from = head.number > last.number ? Math.max(0, last.number - 2) : head.number - 8
  state.busy = true
  effects.push({ type: 'fetch-blocks', from: Math.max(0, from), to: head.number })
}

/** A node this far behind is polled for this long, in case a better one comes back. */
const LOWER_HEADS_MS = 60_000

/**
 * A head below all known blocks cannot be compared with anything: most likely the node lags. It
 * un-mines nothing. When no other head comes, it is followed, and mined transactions are taken back
 * only where another block is seen at their height.
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

/**
 * Continues without reading the blocks in between: blocks with our transactions are compared by
 * number, and receipts are requested by hash.
 */
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
  // Nodes on two branches answered, or the chain changed during the read; the next poll reads
  // again.
  if (first === undefined || oldest === undefined || !linked(blocks)) return
  // After a pause only the newest block is known, and a lower block is not a fork: taking it for
  // one would un-mine confirmed transactions.
  const link = blocks.findIndex(({ hash }) => isKnown(state, hash))
  if (link < 0 && !isKnown(state, first.parentHash)) {
    if (first.number > oldest.number) {
      // The fork lies deeper than the blocks that were read, so lower ones are read.
      state.busy = true
      const depth = Math.max(16, (state.recent.at(-1)?.number ?? first.number) - first.number) * 2
      const to = blocks.at(-1)?.number ?? first.number
      effects.push({ type: 'fetch-blocks', from: Math.max(0, first.number - depth), to })
      return
    }
    // Only another block at a known height is a fork; the fork point may lie below all known
    // blocks.
    if (!blocks.some(({ number }) => number === oldest.number)) return
    distrustBelow(state, first.number)
    rewind(state, oldest.number, effects, nowMs)
  }
  for (const block of link > 0 ? blocks.slice(link) : blocks) {
    if (isKnown(state, block.hash)) continue
    rewind(state, block.number, effects, nowMs)
    const below = state.recent.at(-1)
    // The chain changed during the read; the remaining blocks belong to another branch.
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
    // A height from a node that is ahead of those that answer now says nothing about age.
    watched.sinceBlock = Math.min(watched.sinceBlock ?? block.number, block.number)
    if (watched.mined !== null) deepen(state, watched, block.number, effects, nowMs)
  }
  tellWaiting(state, effects, nowMs)
  sweepOverdue(state, block.number, OVERDUE_BLOCKS, effects)
  askAboutGivenUp(state, block.number, effects)
  askAboutUnverified(state, block.number, effects)
}

/** Notifies each wallet that has a transaction which is not mined. */
function tellWaiting(state: WatcherState, effects: WatcherEffect[], nowMs: number): void {
  state.notifiedAtMs = nowMs
  const waiting = new Set<Owner>()
  for (const { mined, owner } of state.watched.open()) if (mined === null) waiting.add(owner)
  for (const owner of waiting) tellHead(state, owner, null, effects, nowMs)
}

/** Without a new block for this many block times, the node may be lagging. */
const SILENT_BLOCKS = 2
/** The least such time on fast chains. */
const SILENT_MS_MIN = 2_000

/**
 * Keeps lanes moving when the answering nodes have nothing new: pools forget anyway, and a node
 * whose head is behind may have receipts.
 */
function tellOverdue(state: WatcherState, effects: WatcherEffect[], nowMs: number): void {
  const head = state.recent.at(-1)
  const silentMs = Math.max(SILENT_MS_MIN, SILENT_BLOCKS * state.blockTimeMs)
  if (head === undefined || nowMs - state.notifiedAtMs < silentMs) return
  tellWaiting(state, effects, nowMs)
  sweepOverdue(state, head.number, 0, effects)
  askAboutUnverified(state, head.number, effects)
}

/**
 * Our hashes in a block, grouped by wallet, so that a wallet stores at once what it is told at
 * once.
 */
function hitsOf(state: WatcherState, block: BlockSummary): Hex[] {
  const byOwner = new Map<Owner, Hex[]>()
  for (const hash of block.txHashes) {
    // When several transactions have the same bytes, all belong to one account.
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
 * Requests receipts by hash, and nonces by account, for transactions that have waited long: a block
 * may have been missed, or another transaction may have used the nonce. A transaction that was
 * polled goes to the end, so that each has its turn.
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

/** Requests receipts for everything that the last seen block could not show. */
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
 * The newest block with enough linked blocks on top that its contents count as final. A chain that
 * requires more blocks than are remembered gets the oldest remembered block.
 */
function finalBlock({ recent, confirmations }: WatcherState): BlockRef | null {
  const found = recent.at(-1 - Math.min(confirmations, RECENT_BLOCKS_MAX - 1))
  return found === undefined ? null : { blockNumber: found.number, blockHash: found.hash }
}
