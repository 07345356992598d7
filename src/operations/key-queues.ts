import type { KeyId } from '../domain/ids.js'

/**
 * What waits, by key: keys take turns, and each key's own go first in, first out. Whoever has much
 * waiting delays others by one place, not by all of it. Its owner bounds how much waits.
 */
export class KeyQueues<T> {
  /** The first key is the next to have its turn; no queue is empty. */
  readonly #byKey = new Map<KeyId, T[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  push(keyId: KeyId, item: T): void {
    const own = this.#byKey.get(keyId)
    if (own === undefined) this.#byKey.set(keyId, [item])
    else own.push(item)
    this.#size++
  }

  take(): T | undefined {
    for (const [keyId, own] of this.#byKey) {
      const item = own.shift()
      this.#byKey.delete(keyId)
      if (own.length > 0) this.#byKey.set(keyId, own)
      this.#size--
      return item
    }
    return undefined
  }
}
