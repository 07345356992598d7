/**
 * What calls that move value experienced in one window of time, and what that shows about the load.
 */

/**
 * The delay to aim for while calls are shed. At ten times the capacity, calls wait a third less
 * than with 15 ms here, and a twelfth fewer are accepted.
 */
export const STANDING_DELAY_MS = 15
/**
 * The least delay wanted while calls are shed. Ten times overloaded, calls wait a third less than
 * with 15 ms here, and a twelfth fewer are taken.
 */
export const SHED_DELAY_MS = 10
/** A delay below this share of the aim shows that more calls may be at work. */
const FLOWING_SHARE = 0.5
/** Above this ratio calls arrive faster than the service completes them. */
const ARRIVALS_PER_COMPLETION_OVERLOAD = 1.25
/** Above this ratio refusing them takes much of the machine. */
const ARRIVALS_PER_COMPLETION_FLOOD = 4
/**
 * A call at work for this many times the least delay waits mostly for something else, such as a
 * node.
 */
const LATENCY_TO_DELAY_RATIO_MIN = 6

/** A window that has ended. */
export interface LoadWindow {
  readonly lengthMs: number
  readonly arrived: number
  readonly completed: number
  readonly refused: number
  /** The least delay inside this host; null if no completed call reports one. */
  readonly leastDelayMs: number | null
  /** Whether something waited at each moment of the window. */
  readonly wasQueuedThroughout: boolean
  /** As of the end of the window. */
  readonly active: number
  readonly queued: number
}

/** @param delayMs the least delay above which calls count as waiting */
export function isDelayed({ leastDelayMs }: LoadWindow, delayMs: number): boolean {
  return leastDelayMs !== null && leastDelayMs > delayMs
}

/** Whether calls hardly wait inside this host. */
export function isFlowing({ leastDelayMs }: LoadWindow): boolean {
  return leastDelayMs !== null && leastDelayMs < SHED_DELAY_MS * FLOWING_SHARE
}

export function isOutpaced({ arrived, completed }: LoadWindow): boolean {
  return arrived > completed * ARRIVALS_PER_COMPLETION_OVERLOAD
}

/**
 * Whether calls wait for this machine, by Little's law. With some delay, but less than the aim,
 * they may also be held up by a distant node, or by the limit itself under a load that the service
 * can carry. A slow machine never has a delay near zero.
 */
export function isBoundByMachine(window: LoadWindow): boolean {
  const { arrived, completed, lengthMs, active, leastDelayMs } = window
  const latencyMs = (active * lengthMs) / Math.max(1, completed)
  return (
    arrived > completed * ARRIVALS_PER_COMPLETION_FLOOD &&
    latencyMs < (leastDelayMs ?? 0) * LATENCY_TO_DELAY_RATIO_MIN
  )
}

/**
 * By Little's law, the number at work that completes within the delay that is aimed for while
 * shedding.
 */
export function fittingActive({ completed, lengthMs }: LoadWindow): number {
  return Math.floor((completed * SHED_DELAY_MS) / lengthMs)
}

/** Counts what happens until the window is closed. */
export class LoadCounter {
  #arrived = 0
  #completed = 0
  #refused = 0
  #leastDelayMs: number | null = null
  #wasQueuedThroughout = false

  arrive(): void {
    this.#arrived++
  }

  refuse(): void {
    this.#arrived++
    this.#refused++
  }

  complete(delayMs: number | null): void {
    this.#completed++
    if (delayMs !== null && (this.#leastDelayMs === null || delayMs < this.#leastDelayMs)) {
      this.#leastDelayMs = delayMs
    }
  }

  drain(): void {
    this.#wasQueuedThroughout = false
  }

  close(lengthMs: number, active: number, queued: number): LoadWindow {
    return {
      lengthMs,
      arrived: this.#arrived,
      completed: this.#completed,
      refused: this.#refused,
      leastDelayMs: this.#leastDelayMs,
      wasQueuedThroughout: this.#wasQueuedThroughout,
      active,
      queued,
    }
  }

  /** Begins the next window. */
  reset(queued: number): void {
    this.#arrived = 0
    this.#completed = 0
    this.#refused = 0
    this.#leastDelayMs = null
    this.#wasQueuedThroughout = queued > 0
  }
}
