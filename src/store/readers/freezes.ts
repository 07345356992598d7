import type { Freeze } from '../../domain/freeze.js'
import type { UserId } from '../../domain/ids.js'
import type { Environment } from '../environment.js'
import { LAST } from '../pages.js'

/**
 * The key in `meta` of the operator's freeze of the whole service, which exists only with a
 * journal.
 */
export const INSTANCE_FREEZE = 'instance_freeze'

export interface FreezeReader {
  /** All freezes in force. */
  all(): Generator<Freeze>
  ofUser(user: UserId): readonly Freeze[]
  /**
   * The value given to `putInstanceFreeze`, which the caller must check; undefined if the service
   * is not frozen.
   */
  instance(): unknown
}

export function createFreezeReader({ spaces }: Pick<Environment, 'spaces'>): FreezeReader {
  return {
    *all() {
      for (const { value } of spaces.freezes.getRange({})) yield value as Freeze
    },
    ofUser(user) {
      const range = spaces.freezes.getRange({ start: [user, ''], end: [user, LAST] })
      return [...range].map(({ value }) => value as Freeze)
    },
    instance: () => spaces.meta.get(INSTANCE_FREEZE),
  }
}
