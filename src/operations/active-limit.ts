/**
 * How many calls that move value may be at work at once, found from what they wait. Pure but for
 * the counters it keeps: whoever owns it tells it what happens and when.
 *
 * What counts is the delay inside the service (CoDel, RFC 8289: the least delay of a stretch of
 * time tells a standing queue from a burst), not the whole answer: a distant node's round trip is
 * no reason to do less at once. While calls come faster than they end, and wait or find no place, it
 * sheds: what is over the limit is refused at once instead of queued.
 */

/** Until it sheds: long enough for a few commits, short enough to meet overload before it is felt. */
const WATCH_WINDOW_MS = 50
/** While it sheds: enough calls end in it to say how long they took. */
const SHED_WINDOW_MS = 100
/**
 * Least delay that speaks of a standing queue: several batches of signatures deep, three times
 * what a call waits in an idle service.
 */
const STANDING_DELAY_MS = 15
/**
 * The least delay wanted while calls are shed. Ten times overloaded, calls wait a third less than
 * with 15 ms here, and a twelfth fewer are taken.
 */
const SHED_DELAY_MS = 10
/** At work at once until measured otherwise: more than what keeps every batch full. */
const INITIAL_ACTIVE = 128
/** Below it batches run half empty, and less work is done rather than the same sooner. */
const ACTIVE_MIN = 32
/** Calls that come per call that ends, from which on they outpace the service. */
const OUTPACED = 1.25
/** The same, from which on to refuse them takes much of the machine. */
const FLOODED = 4
/**
 * Windows with a queue all through before calls are shed: a burst is over, or nearly, by then. One
 * in which places ran out counts twice: calls are refused already, and those that wait would be the
 * slowest of all.
 */
const PRESSED_WINDOWS = 4
/** Windows with a queue and no delay before more may be at work: the first ones to end were alone. */
const FLOWING_WINDOWS = 2
/** Less of all places than this taken is a burst, however long a slow machine works on it. */
const CROWDED_SHARE = 0.5
/** Times the least delay that a call is at work, from which on it waits elsewhere for the most. */
const AWAY = 6
/** Windows without a refusal after which overload is over. */
const CALM_WINDOWS = 3
/** Without a call: what was learned before it says nothing any more. */
const SILENCE_MS = 300
const SHRINK = 0.85
const GROW = 1.1

export interface ActiveLimit {
  /** Calls that may be at work at once. */
  readonly max: number
  /** True while what is over the limit is refused rather than queued. */
  readonly shedding: boolean
  /**
   * To be called before each of the others.
   * @returns true when shedding has just begun
   */
  advance(nowMs: number, active: number, queued: number): boolean
  came(): void
  refused(): void
  /** @param delayMs what the call took inside this host; null when it says nothing of that */
  ended(delayMs: number | null): void
  /** Nothing is queued at this moment. */
  drained(): void
}

export function createActiveLimit(activeMax: number): ActiveLimit {
  const initial = Math.min(INITIAL_ACTIVE, activeMax)
  const least = Math.min(ACTIVE_MIN, activeMax)
  let max = initial
  let shedding = false
  let windowEndsAtMs = 0
  let pressedWindows = 0
  let flowingWindows = 0
  /** Places ran out and nothing is known yet: until it is, nothing begins that could be late. */
  let suspected = false
  let calmWindows = 0
  let came = 0
  let ended = 0
  let refused = 0
  let leastDelayMs: number | null = null
  let queuedThroughout = false

  function closeWindow(windowMs: number, active: number, queued: number): void {
    const waits =
      leastDelayMs !== null && leastDelayMs > (shedding ? SHED_DELAY_MS : STANDING_DELAY_MS)
    const flows = leastDelayMs !== null && leastDelayMs < SHED_DELAY_MS / 2
    if (shedding) {
      calmWindows = refused === 0 ? calmWindows + 1 : 0
      if (calmWindows >= CALM_WINDOWS) {
        shedding = false
        pressedWindows = 0
        max = Math.max(max, initial)
      } else if (waits) max = Math.max(least, Math.floor(max * SHRINK))
      else if (refused > 0 && (flows || !isHeldUp(windowMs, active))) {
        max = Math.min(activeMax, Math.ceil(max * GROW))
      }
      return
    }
    if (refused > 0) pressedWindows += 2
    else pressedWindows = queuedThroughout ? pressedWindows + 1 : 0
    // When nothing ends something is stuck, and more of the same is no help.
    const hasRoom = refused > 0 ? flows : ended > 0 && !waits
    flowingWindows = queuedThroughout && hasRoom ? flowingWindows + 1 : 0
    if (flowingWindows >= FLOWING_WINDOWS) max = Math.min(activeMax, max * 2)
    const isCrowded = active + queued >= activeMax * CROWDED_SHARE
    const isFlood = isCrowded && came > ended * OUTPACED
    const isSlow = refused > 0 ? ended > 0 && !flows : waits
    shedding = pressedWindows >= PRESSED_WINDOWS && isFlood && isSlow
    suspected = !shedding && isFlood && refused > 0 && flowingWindows === 0
    if (!shedding) return
    calmWindows = 0
    // By Little's law: as many as end within the wanted delay.
    const fitting = Math.floor((ended * SHED_DELAY_MS) / windowMs)
    max = Math.min(max, Math.max(least, fitting))
  }

  /**
   * True when it is this machine that calls wait for, by Little's law: with some delay, yet less
   * than wanted, they may as well be held up by a distant node, or by the limit itself beside a
   * load that is not beyond it. A slow machine never has a delay of next to nothing.
   */
  function isHeldUp(windowMs: number, active: number): boolean {
    const atWorkMs = (active * windowMs) / Math.max(1, ended)
    return came > ended * FLOODED && atWorkMs < (leastDelayMs ?? 0) * AWAY
  }

  return {
    get max() {
      return suspected ? Math.min(max, least) : max
    },
    get shedding() {
      return shedding
    },
    advance(nowMs, active, queued) {
      if (nowMs < windowEndsAtMs) return false
      const shed = shedding
      const windowMs = shedding ? SHED_WINDOW_MS : WATCH_WINDOW_MS
      // After a silence there is no window to judge.
      if (nowMs < windowEndsAtMs + SILENCE_MS) closeWindow(windowMs, active, queued)
      else {
        shedding = false
        pressedWindows = 0
        flowingWindows = 0
        suspected = false
        max = initial
      }
      windowEndsAtMs = nowMs + (shedding ? SHED_WINDOW_MS : WATCH_WINDOW_MS)
      came = 0
      ended = 0
      refused = 0
      leastDelayMs = null
      queuedThroughout = queued > 0
      return shedding && !shed
    },
    came() {
      came++
    },
    refused() {
      came++
      refused++
    },
    ended(delayMs) {
      ended++
      if (delayMs !== null && (leastDelayMs === null || delayMs < leastDelayMs)) {
        leastDelayMs = delayMs
      }
    },
    drained() {
      queuedThroughout = false
    },
  }
}
