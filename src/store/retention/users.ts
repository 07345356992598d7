import type { UserId } from '../../domain/ids.js'
import type { Environment } from '../environment.js'
import type { KeySpace } from '../key-spaces.js'
import { LAST } from '../pages.js'

/** The next user, in order, that has a record in a space whose keys begin with the user. */
export function userAfter(
  spaces: Environment['spaces'],
  space: KeySpace,
  after: UserId | null,
): UserId | null {
  const range = after === null ? { limit: 1 } : { start: [after, LAST], limit: 1 }
  for (const key of spaces[space].getKeys(range)) {
    return (key as unknown as [UserId, string | number])[0]
  }
  return null
}
