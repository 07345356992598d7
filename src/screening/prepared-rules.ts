import { LRUCache } from 'lru-cache'
import type { UserId } from '../domain/ids.js'
import { prepareUserRules, type UserRule, type UserRules } from './user-rules.js'

/**
 * The most users whose rules are kept prepared; a user without rules takes a place too, but no
 * memory.
 */
const PREPARED_USERS_MAX = 10_000

/** Shared by all threads: counts the changes of all users' rules. */
export function createRulesVersion(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
}

export interface PreparedRules {
  /** The user's present rules; undefined when the user has none. */
  rulesOf(userId: UserId): UserRules | undefined
  /** Makes every thread read rules again. Call it when a change is durable. */
  changed(): void
}

/**
 * A send costs one atomic load here until some rule changes.
 * @param load reads a user's rules from the store as it is at that moment
 */
export function attachPreparedRules(
  version: SharedArrayBuffer,
  load: (userId: UserId) => readonly UserRule[],
): PreparedRules {
  const cell = new Int32Array(version)
  const prepared = new LRUCache<UserId, { readonly rules: UserRules | undefined }>({
    max: PREPARED_USERS_MAX,
  })
  let seen = Atomics.load(cell, 0)
  return {
    rulesOf(userId) {
      const now = Atomics.load(cell, 0)
      if (now !== seen) {
        seen = now
        prepared.clear()
      }
      const known = prepared.get(userId)
      if (known !== undefined) return known.rules
      const stored = load(userId)
      const rules = stored.length === 0 ? undefined : prepareUserRules(stored)
      prepared.set(userId, { rules })
      return rules
    },
    changed() {
      Atomics.add(cell, 0, 1)
    },
  }
}
