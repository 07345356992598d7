import { type UserBreaker, type UserWatch, userWatchOf } from '../policy/user-breakers.js'
import type { UserId } from './ids.js'

/**
 * Whose breakers look at what, as the thread knows it on which the user's sub-wallets live. Asked
 * at every decision of theirs, so it costs next to nothing while nobody has any.
 */
export interface UserBreakerBook {
  /** Null: the user has none. */
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
