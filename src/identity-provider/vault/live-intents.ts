import { randomBytes } from 'node:crypto'

/**
 * The ids of approved intents until they expire: none is approved twice. At full load there are a
 * million of them, each for minutes, so they are in byte arrays: as strings, each full garbage
 * collection would walk them all, and each minor one would copy the newest.
 */
interface LiveIntents {
  has(id: Uint8Array): boolean
  /**
   * Forgets expired ids, and remembers these.
   * @param expiresAtMs the latest expiry among them
   */
  remember(ids: readonly Uint8Array[], expiresAtMs: number, nowMs: number): void
}

/** Ids that arrived in one span of time and are forgotten together. */
interface Generation {
  readonly sinceMs: number
  expiresAtMs: number
  count: number
  /** The ids, one after the other. */
  ids: Uint8Array
  /**
   * A hash table with open addressing: an id's position in `ids` from 1 on, or 0 for a free slot.
   * Half are free.
   */
  slots: Int32Array
}

const ID_BYTES = 32
/** With intents of three minutes, five spans are kept, and a lookup searches each. */
const SPAN_MS = 60_000
const CAPACITY_MIN = 2_048

export function createLiveIntents(): LiveIntents {
  // A secret seed: the sender of intents must not know which ids share a slot.
  const drawn = randomBytes(8)
  const first = drawn.readInt32LE(0) | 1
  const second = drawn.readInt32LE(4) | 1
  /** Oldest first. */
  let generations: Generation[] = []

  function hashOf(bytes: Uint8Array, at: number): number {
    return Math.imul(wordAt(bytes, at), first) + Math.imul(wordAt(bytes, at + 4), second)
  }

  /** Returns the slot of an id, or the free slot where it belongs. */
  function slotOf({ ids, slots }: Generation, id: Uint8Array, from: number): number {
    const mask = slots.length - 1
    const hash = hashOf(id, from)
    // The high bits of a product depend on all bits of its factors.
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const place = slots[slot] ?? 0
      if (place === 0 || isSame(ids, (place - 1) * ID_BYTES, id, from)) return slot
    }
  }

  function put(generation: Generation, id: Uint8Array): void {
    const { count, slots } = generation
    const slot = slotOf(generation, id, 0)
    if (slots[slot] !== 0) return
    generation.ids.set(id, count * ID_BYTES)
    slots[slot] = generation.count = count + 1
    if (generation.count * 2 >= slots.length) grow(generation)
  }

  function grow(generation: Generation): void {
    const { ids, count } = generation
    const wider = emptyOf(generation.slots.length, generation.sinceMs)
    wider.ids.set(ids.subarray(0, count * ID_BYTES))
    generation.ids = wider.ids
    generation.slots = wider.slots
    for (let place = 0; place < count; place++) {
      generation.slots[slotOf(generation, ids, place * ID_BYTES)] = place + 1
    }
  }

  function newest(nowMs: number): Generation {
    const last = generations.at(-1)
    // This also holds when the clock was set back.
    if (last !== undefined && Math.abs(nowMs - last.sinceMs) < SPAN_MS) return last
    const next = emptyOf(capacityFor(last?.count ?? 0), nowMs)
    generations.push(next)
    return next
  }

  return {
    has: (id) =>
      generations.some((generation) => generation.slots[slotOf(generation, id, 0)] !== 0),
    remember(ids, expiresAtMs, nowMs) {
      if ((generations[0]?.expiresAtMs ?? nowMs) < nowMs) {
        generations = generations.filter((one) => one.expiresAtMs >= nowMs)
      }
      const generation = newest(nowMs)
      generation.expiresAtMs = Math.max(generation.expiresAtMs, expiresAtMs)
      for (const id of ids) {
        if (id.length !== ID_BYTES) throw new RangeError(`an id of ${id.length} bytes`)
        put(generation, id)
      }
    },
  }
}

/** @param capacity a power of two: the number of ids that fit */
function emptyOf(capacity: number, sinceMs: number): Generation {
  return {
    ...{ sinceMs, expiresAtMs: 0, count: 0 },
    ids: new Uint8Array(capacity * ID_BYTES),
    slots: new Int32Array(capacity * 2),
  }
}

/** Leaves room for as many ids as arrived in the previous span. */
function capacityFor(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(count + 1, CAPACITY_MIN)))
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  )
}

function isSame(ids: Uint8Array, at: number, id: Uint8Array, from: number): boolean {
  for (let i = 0; i < ID_BYTES; i++) if (ids[at + i] !== id[from + i]) return false
  return true
}
