import type { KeyId } from '../domain/ids.js'

/**
 * Places of one key in the common line. With one place a key that has two calls waiting, as
 * happens by chance in a busy fleet, waits a whole round longer for its second; with many, one that
 * floods holds up all others.
 */
export const IN_LINE_MAX = 4

interface OwnQueue<T> {
  inLine: number
  /** What has no place in the line yet, first in, first out. */
  readonly behind: T[]
}

interface InLine<T> {
  readonly keyId: KeyId
  readonly item: T
}

/**
 * What waits: first in, first out among keys that have little waiting. Whoever has much delays
 * others by a few places, not by all of it: the rest waits behind the line, and one comes in for
 * each that leaves. Its owner bounds how much waits.
 */
export class KeyQueues<T> {
  readonly #line = new Set<InLine<T>>()
  /** Keys that have something in the line. */
  readonly #byKey = new Map<KeyId, OwnQueue<T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  push(keyId: KeyId, item: T): void {
    let own = this.#byKey.get(keyId)
    if (own === undefined) {
      own = { inLine: 0, behind: [] }
      this.#byKey.set(keyId, own)
    }
    if (own.inLine < IN_LINE_MAX) this.#join(keyId, own, item)
    else own.behind.push(item)
    this.#size++
  }

  take(): T | undefined {
    for (const first of this.#line) {
      this.#line.delete(first)
      this.#size--
      this.#leave(first.keyId)
      return first.item
    }
    return undefined
  }

  #leave(keyId: KeyId): void {
    const own = this.#byKey.get(keyId)
    if (own === undefined) return
    own.inLine--
    const next = own.behind.shift()
    if (next !== undefined) this.#join(keyId, own, next)
    else if (own.inLine === 0) this.#byKey.delete(keyId)
  }

  #join(keyId: KeyId, own: OwnQueue<T>, item: T): void {
    own.inLine++
    this.#line.add({ keyId, item })
  }
}
