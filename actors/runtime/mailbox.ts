import { type QueueReading, WaitSample } from '../../src/domain/meter.js'

/** A bounded first-in-first-out queue over a ring of array slots. */
export class Mailbox<T> {
  readonly #capacity: number
  readonly #wait: WaitSample
  #dropped = 0
  #items: T[] = []
  #head = 0

  constructor(capacity: number, elapsed: () => number) {
    this.#capacity = capacity
    this.#wait = new WaitSample(elapsed)
  }

  get size(): number {
    return this.#items.length - this.#head
  }

  read(): QueueReading {
    return { length: this.size, waitMs: this.#wait.waitMs, dropped: this.#dropped }
  }

  /** @returns false, with nothing done, when the mailbox is full */
  offer(item: T): boolean {
    if (this.size >= this.#capacity) {
      this.#dropped++
      return false
    }
    this.put(item)
    return true
  }

  /** Adds an item that must not be lost; it counts against the capacity that `offer` sees. */
  put(item: T): void {
    this.#items.push(item)
    this.#wait.entered()
  }

  take(): T | undefined {
    if (this.#head >= this.#items.length) return undefined
    const item = this.#items[this.#head]
    this.#head++
    this.#wait.left()
    if (this.#head === this.#items.length) {
      this.#items = []
      this.#head = 0
    }
    return item
  }
}
