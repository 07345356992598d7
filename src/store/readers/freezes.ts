import type { Freeze } from '../../domain/freeze.js'
import type { UserId } from '../../domain/ids.js'
import type { Environment } from '../environment.js'
import { LAST } from '../pages.js'

export interface FreezeReader {
  /** All that stand. */
  all(): Generator<Freeze>
  ofUser(user: UserId): readonly Freeze[]
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
  }
}
