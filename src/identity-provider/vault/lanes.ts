import { LANES_MAX, laneOf, laneStart } from '../../quorum-protocol/batch.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'

/** What lanes are remembered in. */
export interface LaneLedger extends Pick<LedgerStore, 'lastLane' | 'highestIn'> {
  commit<T>(write: (ledger: Pick<LedgerWriter, 'putLane'>) => T): {
    result: T
    flushed: Promise<unknown>
  }
}

/**
 * The lanes of this run. What was taken in them is durable, the lanes are not: after a restart
 * every batch of an earlier run is in a closed lane and is refused.
 */
export interface Lanes {
  /**
   * A lane that never was; durable when it resolves.
   * @param cell number of the one that it is for
   * @throws Refusal FENCED when `fence` was called meanwhile; OVERLOADED when too many were asked
   * for lately
   */
  next(cell: number): Promise<number>
  /** Closes every lane that the cell has: a later start of its service has taken over. */
  fence(cell: number): void
  /**
   * @throws Refusal REPLAYED unless the sequence is above all before it in an open lane of the cell;
   * FENCED where `fence` closed it
   */
  take(batchSeq: number, cell: number, ledger: Pick<LedgerWriter, 'putLane'>): void
}

/** Of a cell, open at once; the oldest gives way, and its owner asks for a new one. */
const OPEN_LANES_MAX = 256

/** How fast lanes are given out. */
export interface LanePace {
  /** That may be had at once; each is there again after `laneEveryMs`. */
  readonly lanesAtOnce: number
  readonly laneEveryMs: number
  /** Milliseconds of a clock that nobody sets. */
  readonly elapsedMs: () => number
}

/**
 * A lane is given out once and for good, so that whoever asks on and on would use them up, and end
 * this domain for whoever comes after. At one a second they last for half a year; more connections
 * than all restarts of a day make may come at once.
 */
const PACE: LanePace = {
  lanesAtOnce: 65_536,
  laneEveryMs: 1_000,
  elapsedMs: () => performance.now(),
}

interface CellLanes {
  /** In the order in which they were given out. */
  readonly open: Set<number>
  /** Those up to this one belonged to earlier starts of its service, or to other cells. */
  fencedLane: number
}

export function createLanes(ledger: LaneLedger, pace: LanePace = PACE): Lanes {
  const { lanesAtOnce, laneEveryMs, elapsedMs } = pace
  /** As many as there are cells. */
  const cells = new Map<number, CellLanes>()
  let atHand = lanesAtOnce
  let countedMs = elapsedMs()

  function lanesOf(cell: number): CellLanes {
    const found = cells.get(cell)
    if (found !== undefined) return found
    const made = { open: new Set<number>(), fencedLane: -1 }
    cells.set(cell, made)
    return made
  }

  function requirePace(): void {
    const nowMs = elapsedMs()
    atHand = Math.min(lanesAtOnce, atHand + (nowMs - countedMs) / laneEveryMs)
    countedMs = nowMs
    if (atHand < 1) throw new Refusal('OVERLOADED', 'too many lanes were asked for')
    atHand--
  }

  return {
    fence(cell) {
      const own = lanesOf(cell)
      own.fencedLane = ledger.lastLane
      own.open.clear()
    },
    async next(cell) {
      const own = lanesOf(cell)
      requirePace()
      const lane = ledger.lastLane + 1
      if (lane >= LANES_MAX) throw new Error('no lanes left')
      const { flushed } = ledger.commit((writer) => writer.putLane(lane, laneStart(lane)))
      await flushed
      if (lane <= own.fencedLane) throw new Refusal('FENCED', 'lane of an earlier start')
      const oldest = own.open.keys().next()
      if (own.open.size >= OPEN_LANES_MAX && !oldest.done) own.open.delete(oldest.value)
      own.open.add(lane)
      return lane
    },
    take(batchSeq, cell, writer) {
      const { open, fencedLane } = lanesOf(cell)
      const lane = laneOf(batchSeq)
      if (lane <= fencedLane) throw new Refusal('FENCED', 'batch of an earlier start')
      if (!open.has(lane) || batchSeq <= ledger.highestIn(lane)) {
        throw new Refusal('REPLAYED', 'batch sequence')
      }
      writer.putLane(lane, batchSeq)
    },
  }
}
