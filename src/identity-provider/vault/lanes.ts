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
   * @throws Refusal FENCED when `fence` was called meanwhile; OVERLOADED when too many were asked
   * for lately
   */
  next(): Promise<number>
  /** Closes every lane there is: a later start of the service has taken over. */
  fence(): void
  /**
   * @throws Refusal REPLAYED unless the sequence is above all before it in an open lane; FENCED
   * where `fence` closed it
   */
  take(batchSeq: number, ledger: Pick<LedgerWriter, 'putLane'>): void
}

/** Open at once; the oldest gives way, and its owner asks for a new one. */
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

export function createLanes(ledger: LaneLedger, pace: LanePace = PACE): Lanes {
  const { lanesAtOnce, laneEveryMs, elapsedMs } = pace
  /** In the order in which they were given out. */
  const open = new Set<number>()
  /** Lanes up to this one belonged to earlier starts of the service. */
  let fencedLane = -1
  let atHand = lanesAtOnce
  let countedMs = elapsedMs()

  function requirePace(): void {
    const nowMs = elapsedMs()
    atHand = Math.min(lanesAtOnce, atHand + (nowMs - countedMs) / laneEveryMs)
    countedMs = nowMs
    if (atHand < 1) throw new Refusal('OVERLOADED', 'too many lanes were asked for')
    atHand--
  }

  return {
    fence() {
      fencedLane = ledger.lastLane
      open.clear()
    },
    async next() {
      requirePace()
      const lane = ledger.lastLane + 1
      if (lane >= LANES_MAX) throw new Error('no lanes left')
      const { flushed } = ledger.commit((writer) => writer.putLane(lane, laneStart(lane)))
      await flushed
      if (lane <= fencedLane) throw new Refusal('FENCED', 'lane of an earlier start')
      const oldest = open.keys().next()
      if (open.size >= OPEN_LANES_MAX && !oldest.done) open.delete(oldest.value)
      open.add(lane)
      return lane
    },
    take(batchSeq, writer) {
      const lane = laneOf(batchSeq)
      if (lane <= fencedLane) throw new Refusal('FENCED', 'batch of an earlier start')
      if (!open.has(lane) || batchSeq <= ledger.highestIn(lane)) {
        throw new Refusal('REPLAYED', 'batch sequence')
      }
      writer.putLane(lane, batchSeq)
    },
  }
}
