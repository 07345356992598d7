import type { UserId } from '../../domain/ids.js'
import type { UserBreaker, UserTally } from '../../policy/user-breakers.js'
import type { Environment } from '../environment.js'

/** A user's breakers, and what they have counted of signed calls. */
export interface UserBreakersRecord extends Pick<UserTally, 'signed' | 'shared'> {
  readonly userId: UserId
  readonly breakers: readonly UserBreaker[]
}

export interface UserBreakersReader {
  /** The records of all users with breakers. */
  all(): Generator<UserBreakersRecord>
  /** Undefined for a user without breakers. */
  of(user: UserId): UserBreakersRecord | undefined
}

export function createUserBreakersReader({
  spaces,
}: Pick<Environment, 'spaces'>): UserBreakersReader {
  return {
    *all() {
      for (const { value } of spaces.userBreakers.getRange({})) yield value as UserBreakersRecord
    },
    of: (user) => spaces.userBreakers.get(user) as UserBreakersRecord | undefined,
  }
}
