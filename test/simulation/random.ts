/** A seeded sequence (mulberry32). Each part of a world draws from one of its own, by its name. */
export interface Draw {
  /** In [0, 1). */
  fraction(): number
  /** From 0 to `below` − 1. */
  integer(below: number): number
  /** From `least` to `most`. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  /** @throws Error when there is nothing to pick from */
  pick<T>(items: readonly T[]): T
  bytes(count: number): Uint8Array
}

/** @param name so that what one part draws does not change what another does */
export function drawOf(seed: number, name: string): Draw {
  let state = (Math.imul(seed, 0x9e3779b1) ^ textHash(name)) >>> 0
  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const integer = (below: number) => Math.floor(fraction() * below)
  return {
    fraction,
    integer,
    between: (least, most) => least + integer(most - least + 1),
    chance: (probability) => fraction() < probability,
    pick<T>(items: readonly T[]): T {
      const item = items[integer(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    bytes(count) {
      const drawn = new Uint8Array(count)
      for (let i = 0; i < count; i++) drawn[i] = integer(256)
      return drawn
    },
  }
}

/** FNV-1a. */
function textHash(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
