/**
 * Places of one owner in a common line. With one place an owner that has two calls waiting, as
 * happens by chance in a busy fleet, waits a whole round longer for its second; with many, one that
 * floods holds up all others.
 */
export const IN_LINE_MAX = 4

/** Of things that wait; each is an object of its own, and its owner bounds how many there are. */
export interface Queue<T extends object> {
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
  /** What has no place in the line yet; null until there is such a thing. */
  behind: Queue<T> | null
}

/**
 * First in, first out among owners that have little waiting. Whoever has much delays others by a few
 * places, not by all of it: the rest waits behind the line, and one comes in for each that leaves.
 */
export class FairQueue<T extends object, Owner> implements Queue<T> {
  readonly #ownerOf: (item: T) => Owner
  readonly #queueBehind: () => Queue<T>
  readonly #line = new PlainQueue<T>()
  /** Owners that have something in the line. */
  readonly #byOwner = new Map<Owner, Waiting<T>>()
  #size = 0

  /** @param queueBehind makes what orders the rest of one owner's */
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
