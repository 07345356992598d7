import type { SeenBlock } from './messages.js'
import type { Packer } from './settled-blocks.js'
import { WatchList } from './watch-list.js'

/**
 * One chain as its watcher sees it. All of it is rebuilt at a start from what the store says of
 * its transactions, so nothing here is written to disk. Its size is that of the open transactions
 * and of those that a reorg could take back.
 */
export interface WatcherState {
  readonly chainId: number
  /** Depth at which a transaction counts as confirmed; its own block is the first. */
  readonly confirmations: number
  readonly blockTimeMs: number
  /** The newest blocks seen, oldest first, linked by parent hash. */
  readonly recent: SeenBlock[]
  readonly watched: WatchList
  /** Heights at which our transactions are, and the chain may have another block since. */
  readonly unverified: Set<number>
  /**
   * Those that an answer was compared with once, and the head from which on it is asked for again:
   * the node may have been on a branch that has lost, and not known it yet.
   */
  readonly compared: Map<number, number>
  started: boolean
  /** True while an answer of a node is being waited for. */
  busy: boolean
  /** The same, of unverified blocks. */
  checking: boolean
  /** When wallets were last notified of the chain; with `nowMs` of the commands. */
  notifiedAtMs: number
  /** Since when every head was below all blocks that are known; null while one is not. */
  lowerSinceMs: number | null
}

/** Blocks fetched one by one after a pause; beyond it receipts are asked for by hash instead. */
export const CATCH_UP_BLOCKS_MAX = 64

/**
 * Blocks remembered to find where a reorg forked off, and how long a confirmed transaction is
 * still watched. Deeper reorgs are not known on these chains; Polygon's worst was 157.
 */
export const RECENT_BLOCKS_MAX = 256

/** Unverified blocks that are asked for together. */
export const CHECKED_AT_ONCE = 64

/** Receipts asked for by hash per block, besides those that a block's list of hashes named. */
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
