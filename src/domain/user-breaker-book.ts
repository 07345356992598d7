import { type UserBreaker, type UserWatch, userWatchOf } from '../policy/user-breakers.js'
import type { UserId } from './ids.js'

/**
 * What users' breakers watch, on the thread on which the users' sub-wallets live. Each of their
 * decisions reads it, so it costs next to nothing while a user has no breakers.
 */
export interface UserBreakerBook {
  /** Null when the user has no breakers. */
  of(userId: UserId): UserWatch | null
  put(userId: UserId, breakers: readonly UserBreaker[]): void
}

export function createUserBreakerBook(
  stored: Iterable<{ readonly userId: UserId; readonly breakers: readonly UserBreaker[] }>,
): UserBreakerBook {
  const byUser = new Map<UserId, UserWatch>()
  function put(userId: UserId, breakers: readonly UserBreaker[]): void {
    const watch = userWatchOf(breakers)
    if (watch === null) byUser.delete(userId)
    else byUser.set(userId, watch)
  }
  for (const { userId, breakers } of stored) put(userId, breakers)
  return { of: (userId) => (byUser.size === 0 ? null : (byUser.get(userId) ?? null)), put }
}
