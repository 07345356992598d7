/**
 * Places of one owner in the common queue. With one place, an owner with two waiting calls, as
 * happens by chance in a busy fleet, waits a whole round longer for the second; with many, an owner
 * that floods delays all others.
 */
export const IN_LINE_MAX = 4

/**
 * A queue of waiting things. Each is a distinct object, and the queue's owner bounds their number.
 */
interface Queue<T extends object> {
  readonly size: number
  push(item: T): void
  take(): T | undefined
}

/** First in, first out. */
export class PlainQueue<T extends object> implements Queue<T> {
  readonly #items = new Set<T>()

  get size(): number {
    return this.#items.size
  }

  push(item: T): void {
    this.#items.add(item)
  }

  take(): T | undefined {
    for (const first of this.#items) {
      this.#items.delete(first)
      return first
    }
    return undefined
  }
}

interface Waiting<T extends object> {
  inLine: number
  /** Items of the owner without a place in the queue; null when it has no such item. */
  behind: Queue<T> | null
}

/**
 * First in, first out among owners with few waiting items. An owner with many delays others by a
 * few places only: its further items wait behind the queue, and one enters for each that leaves.
 */
export class FairQueue<T extends object, Owner> implements Queue<T> {
  readonly #ownerOf: (item: T) => Owner
  readonly #queueBehind: () => Queue<T>
  readonly #line = new PlainQueue<T>()
  /** Owners with something in the queue. */
  readonly #byOwner = new Map<Owner, Waiting<T>>()
  #size = 0

  /** @param queueBehind creates the queue for the further items of one owner */
  constructor(ownerOf: (item: T) => Owner, queueBehind: () => Queue<T>) {
    this.#ownerOf = ownerOf
    this.#queueBehind = queueBehind
  }

  get size(): number {
    return this.#size
  }

  push(item: T): void {
    const owner = this.#ownerOf(item)
    let own = this.#byOwner.get(owner)
    if (own === undefined) {
      own = { inLine: 0, behind: null }
      this.#byOwner.set(owner, own)
    }
    if (own.inLine < IN_LINE_MAX) this.#join(own, item)
    else {
      own.behind ??= this.#queueBehind()
      own.behind.push(item)
    }
    this.#size++
  }

  take(): T | undefined {
    const first = this.#line.take()
    if (first === undefined) return undefined
    this.#size--
    this.#leave(this.#ownerOf(first))
    return first
  }

  #leave(owner: Owner): void {
    const own = this.#byOwner.get(owner)
    if (own === undefined) return
    own.inLine--
    const next = own.behind?.take()
    if (next !== undefined) this.#join(own, next)
    else if (own.inLine === 0) this.#byOwner.delete(owner)
  }

  #join(own: Waiting<T>, item: T): void {
    own.inLine++
    this.#line.push(item)
  }
}
