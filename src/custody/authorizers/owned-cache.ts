import { LRUCache } from 'lru-cache'

/**
 * Users' unfinished ceremonies, in memory for a limited time. There are two bounds: one per user,
 * which the user is told about, and one for all, above which the oldest entry is dropped. Without
 * the first, one user could evict all others' entries.
 */
export interface OwnedCache<V> {
  /**
   * @returns null when the entry was added; the milliseconds until the user's first entry ends when
   * the user has as many as allowed
   */
  add(id: string, userId: string, value: V, lifeMs: number): number | null
  /** Undefined when there is no such entry, or it has ended. */
  get(id: string): V | undefined
  delete(id: string): void
}

interface OwnedCacheBounds {
  /** The bound for all users together. */
  readonly max: number
  readonly perUserMax: number
}

export function createOwnedCache<V extends object>(bounds: OwnedCacheBounds): OwnedCache<V> {
  const idsByUser = new Map<string, Set<string>>()
  const entries = new LRUCache<string, { readonly userId: string; readonly value: V }>({
    max: bounds.max,
    dispose({ userId }, id) {
      const ids = idsByUser.get(userId)
      ids?.delete(id)
      if (ids?.size === 0) idsByUser.delete(userId)
    },
  })

  /** Returns the remaining milliseconds of each of a user's entries, and drops those that ended. */
  function livesOf(userId: string): number[] {
    const lives: number[] = []
    for (const id of [...(idsByUser.get(userId) ?? [])]) {
      const leftMs = entries.getRemainingTTL(id)
      if (leftMs > 0) lives.push(leftMs)
      else entries.delete(id)
    }
    return lives
  }

  return {
    add(id, userId, value, lifeMs) {
      if (lifeMs <= 0) return null
      const lives = livesOf(userId)
      if (lives.length >= bounds.perUserMax) return Math.min(...lives)
      entries.set(id, { userId, value }, { ttl: lifeMs })
      const ids = idsByUser.get(userId) ?? new Set()
      ids.add(id)
      idsByUser.set(userId, ids)
      return null
    },
    get: (id) => entries.get(id)?.value,
    delete(id) {
      entries.delete(id)
    },
  }
}
