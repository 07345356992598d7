import type { Timers } from '../../src/clock/timers.js'
import type { Draw } from './random.js'
import { alarmOf, arrive, type Life, type Scheduler } from './scheduler.js'

/** What a machine's operating system says of time. */
export interface Clock {
  /** Milliseconds since the epoch, as somebody has set them. */
  readonly now: () => number
  /** Of the clock that nobody sets. */
  readonly elapsed: () => number
  /** Of that one, how much passes in a millisecond of the world's. */
  readonly pace: () => number
}

const STEPS_MS = [1_000, 10_000, 100_000, 3_600_000, 5 * 3_600_000, 26 * 3_600_000]

/** A clock that is off by an amount of its own, is set now and then, and has its own pace. */
export class SkewedClock implements Clock {
  readonly #scheduler: Scheduler
  /** Of the wall clock, ahead of the monotonic one. */
  #aheadMs: number
  #pace: number
  /** Where the pace last changed, of the world's time and of its own. */
  #since: { readonly worldMs: number; readonly ownMs: number }

  constructor(scheduler: Scheduler, aheadMs: number, pace: number) {
    this.#scheduler = scheduler
    this.#aheadMs = scheduler.startMs + aheadMs
    this.#pace = pace
    this.#since = { worldMs: scheduler.startMs, ownMs: 0 }
  }

  readonly now = (): number => Math.floor(this.#aheadMs + this.elapsed())

  readonly elapsed = (): number => {
    const { worldMs, ownMs } = this.#since
    return ownMs + (this.#scheduler.nowMs - worldMs) * this.#pace
  }

  readonly pace = (): number => this.#pace

  /** Somebody sets it. @returns by how much */
  step(draw: Draw): number {
    const byMs = draw.pick(STEPS_MS) * (draw.chance(0.5) ? 1 : -1)
    this.#aheadMs += byMs
    return byMs
  }

  setRight(): void {
    this.#aheadMs = this.#scheduler.nowMs - this.elapsed()
  }

  /** It is right, and stays so. */
  calm(): void {
    this.#since = { worldMs: this.#scheduler.nowMs, ownMs: this.elapsed() }
    this.#pace = 1
    this.setRight()
  }
}

/**
 * Time and chance by a machine's clock, as `systemTimers`: what is to be done at a moment is done once as
 * long has passed as there was left until then, whatever is set meanwhile.
 * @param now the service's clock; absent: the machine's
 */
export function timersBy(
  clock: Clock,
  scheduler: Scheduler,
  life: Life,
  draw: Draw,
  now: () => number = clock.now,
): Timers {
  return {
    now,
    elapsed: clock.elapsed,
    at: (atMs, task) => {
      const delayMs = Math.ceil(Math.max(0, atMs - now()) / clock.pace())
      return alarmOf(scheduler, life, scheduler.nowMs + delayMs, task)
    },
    soon: (task) => void scheduler.at(scheduler.nowMs, () => arrive(scheduler, life, task)),
    random: { fraction: draw.fraction, bytes: draw.bytes },
  }
}
