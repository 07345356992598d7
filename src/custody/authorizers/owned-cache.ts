import { LRUCache } from 'lru-cache'

/**
 * What users have left open for a while, in memory. Bounded twice: for each user, who is told so,
 * and for all together, where the oldest is given up. Without the first bound one user could push
 * everybody else's out.
 */
export interface OwnedCache<V> {
  /**
   * @returns null when it is kept; when that user has as many open as one may, milliseconds until
   * the first of them ends
   */
  add(id: string, userId: string, value: V, lifeMs: number): number | null
  /** Undefined when it is not there, or has ended. */
  get(id: string): V | undefined
  delete(id: string): void
}

export interface OwnedCacheBounds {
  /** Of all users together. */
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

  /** What is left of a user's, in milliseconds; what has ended is dropped on the way. */
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
