import type { Timers } from '../../src/clock/timers.js'
import { CLOCK_ERROR_MAX_MS } from '../../src/domain/clock.js'
import { SkewedClock } from './clocks.js'
import type { Features } from './features.js'
import type { Draw } from './random.js'
import type { Scheduler } from './scheduler.js'

/** What comes between any two parties of a cluster, what their clocks say, and whom callers ask. */
export interface Parted {
  /** How often two of them, or one and all others, do not reach one another for a while. */
  readonly cuts: number
  /** Of those cuts, how many lose what goes one way alone. */
  readonly oneWay: number
  /** As far as clocks of machines and of the user side are off at the start, at most. */
  readonly clocksOffMs: number
  /** How often one of them is set, ahead or behind, while it runs. */
  readonly steps: number
  /** Part by which clocks that nobody sets are faster or slower, at most. */
  readonly paceApart: number
  /** Callers ask any machine, not only the one that owns the journal. */
  readonly hasManyDoors: boolean
  /** Of requests that a machine answers, how many lose their connection just before. */
  readonly unheard: number
  /** How often one from which the journal was taken asks the user side, on a connection from before. */
  readonly deposedAsks: number
}

/** What may be put into such a world, to see that an oracle finds it. */
export interface PartedFaults {
  /** As who waits for the journal has time. */
  readonly standbyTimers?: (timers: Timers) => Timers
  /** The service goes by its machine's clock, whatever chains say. */
  readonly trustsMachineClock?: true
  /** The user side does for an earlier owner what is no signature. */
  readonly servesEarlier?: true
  /** What a node that passes requests on does otherwise than it should. */
  readonly forwards?: 'again-after-unknown' | 'unknown-as-not-done' | 'reads-by-itself'
}

const UNHEARD_MAX = 0.2
const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
/** Its blocks say times that lie ahead of the world's by a second for each that a reorg takes back. */
const REORG_DEPTH_MAX = 40

/** A cluster's world in which any two may be cut off from one another, and each has a clock of its own. */
export function parted(features: Features, draw: Draw): Features {
  const reorgDepthMax = Math.min(features.reorgDepthMax, REORG_DEPTH_MAX)
  return {
    ...features,
    reorgDepthMax,
    parted: {
      cuts: draw.chance(0.8) ? draw.between(1, 12) : 0,
      oneWay: draw.pick([0, 0.5, 1]),
      clocksOffMs: draw.chance(0.6)
        ? draw.pick([SECOND_MS, 10 * SECOND_MS, 60 * SECOND_MS, 110 * SECOND_MS, 5 * HOUR_MS])
        : 0,
      steps: draw.chance(0.6) ? draw.between(1, 6) : 0,
      paceApart: draw.chance(0.6) ? draw.pick([0.000_1, 0.02]) : 0,
      hasManyDoors: draw.chance(0.8),
      deposedAsks: draw.chance(0.6) ? draw.between(1, 6) : 0,
      unheard: draw.chance(0.5) ? draw.fraction() * UNHEARD_MAX : 0,
    },
  }
}

/** Chains are late by their blocks and by nodes that lag, and ahead by a reorg; and clocks drift from both. */
const CHAINS_OFF_MS_MAX = 90_000

/** What oracles may take times that the service has written for. */
export interface Clocks {
  /** As far as a clock that it decides by was off at most. */
  readonly apartMs: number
  /** When something ended at the latest that the service says ended then. */
  readonly latestMs: (updatedAtMs: number) => number
  /**
   * Clocks were hours behind: what a start counted by one in a window that cannot have been yet it does
   * not take off again (`domain/spend.ts`), so that more may be used than was spent, and never less.
   */
  readonly mayCountMore: boolean
}

/** @param endMs of the world: a start whose clock is wrong may write any time of what only ends */
export function clocksOf({ parted: of, cluster }: Features, endMs: number): Clocks {
  const apartMs =
    of === null ? (cluster?.clocksApartMs ?? 0) : CLOCK_ERROR_MAX_MS + CHAINS_OFF_MS_MAX
  const latestMs = (updatedAtMs: number) => (of === null ? updatedAtMs : endMs) + apartMs
  const mayCountMore = of !== null && (of.steps > 0 || of.clocksOffMs > CLOCK_ERROR_MAX_MS)
  return { apartMs, latestMs, mayCountMore }
}

/** @param aheadMs besides what such a world makes of it */
export function skewedClock(
  { clocksOffMs, paceApart }: Parted,
  aheadMs: number,
  scheduler: Scheduler,
  draw: Draw,
): SkewedClock {
  const offMs = aheadMs + draw.between(-clocksOffMs, clocksOffMs)
  return new SkewedClock(scheduler, offMs, 1 + (2 * draw.fraction() - 1) * paceApart)
}

export function userSideClockOf(
  { parted: of }: Features,
  draw: Draw,
  scheduler: Scheduler,
): SkewedClock {
  return of === null ? new SkewedClock(scheduler, 0, 1) : skewedClock(of, 0, scheduler, draw)
}
