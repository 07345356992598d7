import { LANES_MAX, laneOf, laneStart } from '../../quorum-protocol/batch.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'

/** The parts of the ledger that remember lanes. */
interface LaneLedger extends Pick<LedgerStore, 'lastLane' | 'highestIn'> {
  commit<T>(write: (ledger: Pick<LedgerWriter, 'putLane'>) => T): {
    result: T
    flushed: Promise<unknown>
  }
}

/**
 * The lanes of this run. The sequences taken are durable, the lanes are not: after a restart every
 * batch of an earlier run is in a closed lane and is refused.
 */
export interface Lanes {
  /**
   * Opens a new lane. Resolves once it is durable.
   * @param cell the number of the lane's cell
   * @throws Refusal FENCED when `fence` was called in between; OVERLOADED when too many were
   * requested recently
   */
  next(cell: number): Promise<number>
  /** Closes every lane of the cell, because a later start of its service has taken over. */
  fence(cell: number): void
  /**
   * @throws Refusal REPLAYED unless the sequence is above all before it in an open lane of the
   * cell; FENCED when `fence` closed the lane
   */
  take(batchSeq: number, cell: number, ledger: Pick<LedgerWriter, 'putLane'>): void
}

/** The bound of a cell's open lanes; the oldest gives way, and its service requests a new one. */
const OPEN_LANES_MAX = 256

/** The rate at which lanes are given out. */
interface LanePace {
  /** How many may be requested at once; each is available again after `laneEveryMs`. */
  readonly lanesAtOnce: number
  readonly laneEveryMs: number
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs: () => number
}

/**
 * A lane number is used only once, so a caller that keeps requesting lanes would use them up and
 * end this domain for everyone. At one a second they last half a year; the burst is larger than all
 * restarts of a day need.
 */
const PACE: LanePace = {
  lanesAtOnce: 65_536,
  laneEveryMs: 1_000,
  elapsedMs: () => performance.now(),
}

interface CellLanes {
  /** In the order in which they were given out. */
  readonly open: Set<number>
  /** Lanes up to this one belong to earlier starts of its service or to other cells. */
  fencedLane: number
}

export function createLanes(ledger: LaneLedger, pace: LanePace = PACE): Lanes {
  const { lanesAtOnce, laneEveryMs, elapsedMs } = pace
  /** One entry per cell. */
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
    if (atHand < 1) throw new Refusal('OVERLOADED', 'too many lanes were requested')
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
