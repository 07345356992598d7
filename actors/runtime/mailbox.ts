/** A bounded first-in-first-out queue over a ring of array slots. */
export class Mailbox<T> {
  readonly #capacity: number
  #items: T[] = []
  #head = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#items.length - this.#head
  }

  /** @returns false, with nothing done, when the mailbox is full */
  offer(item: T): boolean {
    if (this.size >= this.#capacity) return false
    this.#items.push(item)
    return true
  }

  /** For what must not be lost; it counts against the capacity that `offer` sees. */
  put(item: T): void {
    this.#items.push(item)
  }

  take(): T | undefined {
    if (this.#head >= this.#items.length) return undefined
    const item = this.#items[this.#head]
    this.#head++
    if (this.#head === this.#items.length) {
      this.#items = []
      this.#head = 0
    }
    return item
  }
}
