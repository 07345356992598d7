import type { LRUCache } from 'lru-cache'

/** Far less than a fleet needs, so that entries do leave, and no process starts with megabytes of room. */
const ENTRIES_MAX = 64

/** Returns the package with caches that hold little. */
export function smallCaches(whole: { readonly LRUCache: typeof LRUCache }): object {
  class SmallCache<
    Key extends NonNullable<unknown>,
    Value extends NonNullable<unknown>,
  > extends whole.LRUCache<Key, Value> {
    constructor(options: LRUCache.Options<Key, Value, unknown>) {
      super({ ...options, max: Math.min(options.max ?? ENTRIES_MAX, ENTRIES_MAX) })
    }
  }
  return { ...whole, LRUCache: SmallCache }
}
