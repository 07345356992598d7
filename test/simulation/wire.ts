import type { Draw } from './random.js'
import { arrive, type Life, type Scheduler } from './scheduler.js'

const LATENCY_MS_MAX = 2

/** From one thread to another: what is posted arrives in its order, a while later. */
export class Wire {
  readonly #scheduler: Scheduler
  readonly #draw: Draw
  readonly #life: Life
  #dueMs = 0

  constructor(scheduler: Scheduler, draw: Draw, life: Life) {
    this.#scheduler = scheduler
    this.#draw = draw
    this.#life = life
  }

  /** @param run what the other thread does with it */
  post(run: () => void): void {
    const dueMs = this.#scheduler.nowMs + this.#draw.integer(LATENCY_MS_MAX + 1)
    this.#dueMs = Math.max(this.#dueMs, dueMs)
    this.#scheduler.at(this.#dueMs, () => arrive(this.#scheduler, this.#life, run))
  }
}
