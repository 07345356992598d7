import type { Freeze } from '../../domain/freeze.js'
import type { UserId } from '../../domain/ids.js'
import type { Environment } from '../environment.js'
import { LAST } from '../pages.js'

/** In `meta`: the operator's freeze of the whole service, where there is a journal. */
export const INSTANCE_FREEZE = 'instance_freeze'

export interface FreezeReader {
  /** All that stand. */
  all(): Generator<Freeze>
  ofUser(user: UserId): readonly Freeze[]
  /** As `putInstanceFreeze` was given it, for whoever reads it to check; undefined: it is not frozen. */
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
