/** Collects messages and hands them over once per tick. */
export class Outbox<T> {
  #items: T[] = []
  readonly #flush: (items: readonly T[]) => void

  constructor(flush: (items: readonly T[]) => void) {
    this.#flush = flush
  }

  push(item: T): void {
    if (this.#items.push(item) > 1) return
    setImmediate(() => {
      const items = this.#items
      this.#items = []
      this.#flush(items)
    })
  }
}
