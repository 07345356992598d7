import { randomBytes } from 'node:crypto'

/**
 * Ids of intents that were approved, until they have expired: none is approved twice. They live for
 * minutes and are a million of them at full load, so they lie in byte arrays: as strings each full
 * collection of garbage would walk them all, and each young one would copy the newest.
 */
export interface LiveIntents {
  has(id: Uint8Array): boolean
  /**
   * Forgets what has expired, and remembers these.
   * @param expiresAtMs of the latest of them
   */
  remember(ids: readonly Uint8Array[], expiresAtMs: number, nowMs: number): void
}

/** Ids that came in one span of time, and are forgotten together. */
interface Generation {
  readonly sinceMs: number
  expiresAtMs: number
  count: number
  /** One behind the other. */
  ids: Uint8Array
  /** By hash, open addressing: the place of an id in `ids`, from 1 on; 0: none. Half are free. */
  slots: Int32Array
}

const ID_BYTES = 32
/** With intents of three minutes five are kept at a time, each of which a look goes through. */
const SPAN_MS = 60_000
const CAPACITY_MIN = 2_048

export function createLiveIntents(): LiveIntents {
  // Whoever makes up intents must not know which ids share a slot.
  const drawn = randomBytes(8)
  const first = drawn.readInt32LE(0) | 1
  const second = drawn.readInt32LE(4) | 1
  /** Oldest first. */
  let generations: Generation[] = []

  function hashOf(bytes: Uint8Array, at: number): number {
    return Math.imul(wordAt(bytes, at), first) + Math.imul(wordAt(bytes, at + 4), second)
  }

  /** Where it is, or the free slot where it would be. */
  function slotOf({ ids, slots }: Generation, id: Uint8Array, from: number): number {
    const mask = slots.length - 1
    const hash = hashOf(id, from)
    // Of a product the high bits depend on all bits of its factors.
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
    // Also where the clock was set back.
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

/** @param capacity a power of two: so many ids have room */
function emptyOf(capacity: number, sinceMs: number): Generation {
  return {
    ...{ sinceMs, expiresAtMs: 0, count: 0 },
    ids: new Uint8Array(capacity * ID_BYTES),
    slots: new Int32Array(capacity * 2),
  }
}

/** As many as came in the span before. */
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
