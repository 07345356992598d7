import type { Timers } from '../../src/clock/timers.js'
import type { QueueReading } from '../../src/domain/meter.js'

/** Collects messages and hands them over once per tick. */
export class Outbox<T> {
  #items: T[] = []
  readonly #flush: (items: readonly T[]) => void
  readonly #timers: Pick<Timers, 'soon' | 'elapsed'>
  #sinceMs = 0
  #waitMs = 0

  constructor(timers: Pick<Timers, 'soon' | 'elapsed'>, flush: (items: readonly T[]) => void) {
    this.#timers = timers
    this.#flush = flush
  }

  push(item: T): void {
    if (this.#items.push(item) > 1) return
    this.#sinceMs = this.#timers.elapsed()
    this.#timers.soon(() => {
      const items = this.#items
      this.#items = []
      this.#waitMs = this.#timers.elapsed() - this.#sinceMs
      this.#flush(items)
    })
  }

  /** The outbox has no bound and drops nothing. */
  read(): QueueReading {
    return { length: this.#items.length, waitMs: this.#waitMs, dropped: 0 }
  }
}
