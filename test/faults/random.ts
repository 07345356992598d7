/** A seeded sequence (mulberry32), so that a failing run can be had again by its seed. */
export function seededRandom(seed: number) {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const integer = (below: number) => Math.floor(next() * below)
  return {
    /** From 0 to `below` − 1. */
    integer,
    chance: (probability: number) => next() < probability,
    /** @throws Error when there is nothing to pick from */
    pick<T>(items: readonly T[]): T {
      const item = items[integer(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
}
