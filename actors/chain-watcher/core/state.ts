import type { SeenBlock } from './messages.js'
import type { Packer } from './settled-blocks.js'
import { WatchList } from './watch-list.js'

/**
 * One chain as its watcher sees it. The state is rebuilt at a start from the stored transactions,
 * so nothing here is written to disk. Its size is that of the open transactions and of those that a
 * reorg could take back.
 */
export interface WatcherState {
  readonly chainId: number
  /** The depth at which a transaction counts as confirmed; its own block is the first. */
  readonly confirmations: number
  readonly blockTimeMs: number
  /** The newest blocks seen, oldest first, linked by parent hash. */
  readonly recent: SeenBlock[]
  readonly watched: WatchList
  /** Heights of our transactions at which the chain may have another block by now. */
  readonly unverified: Set<number>
  /**
   * Heights that were compared once, with the head from which they are compared again: the node may
   * have been on a losing branch without knowing it.
   */
  readonly compared: Map<number, number>
  started: boolean
  /** True while a node's answer is outstanding. */
  busy: boolean
  /** The same for the answer about unverified blocks. */
  checking: boolean
  /** When wallets were last notified of the chain, in the time of the commands' `nowMs`. */
  notifiedAtMs: number
  /** Since when every head was below all known blocks; null when one was not. */
  lowerSinceMs: number | null
}

/**
 * The most blocks that are fetched one by one after a pause; beyond this receipts are requested by
 * hash.
 */
export const CATCH_UP_BLOCKS_MAX = 64

/**
 * The blocks remembered to find the fork point of a reorg, and how long a confirmed transaction is
 * still watched. No deeper reorg is known on these chains; Polygon's worst was 157.
 */
export const RECENT_BLOCKS_MAX = 256

/** The most unverified blocks that are read together. */
export const CHECKED_AT_ONCE = 64

/**
 * The most receipts requested by hash per block, in addition to those named by the block's list of
 * hashes.
 */
export const SWEEP_MAX = 200

export function emptyWatcher(
  chainId: number,
  confirmations: number,
  blockTimeMs: number,
  packer: Packer,
): WatcherState {
  return {
    chainId,
    confirmations,
    blockTimeMs,
    recent: [],
    watched: new WatchList(packer),
    unverified: new Set(),
    compared: new Map(),
    started: false,
    busy: false,
    checking: false,
    notifiedAtMs: 0,
    lowerSinceMs: null,
  }
}
