import type { Timers } from './timers.js'

/** Collects messages and hands them over once per tick. */
export class Outbox<T> {
  #items: T[] = []
  readonly #flush: (items: readonly T[]) => void
  readonly #timers: Pick<Timers, 'soon'>

  constructor(timers: Pick<Timers, 'soon'>, flush: (items: readonly T[]) => void) {
    this.#timers = timers
    this.#flush = flush
  }

  push(item: T): void {
    if (this.#items.push(item) > 1) return
    this.#timers.soon(() => {
      const items = this.#items
      this.#items = []
      this.#flush(items)
    })
  }
}
