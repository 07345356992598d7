import { isDeepStrictEqual } from 'node:util'
import type { Environment } from '../../src/store/environment.js'
import { KEY_SPACES, type KeySpace } from '../../src/store/key-spaces.js'

type Store = Pick<Environment, 'spaces'>

/** As two stores that are at one place of a journal must, whoever of them owns it. */
export function haveSameRows(one: Store, other: Store): boolean {
  return (Object.keys(KEY_SPACES) as KeySpace[]).every((space) =>
    isDeepStrictEqual(rowsOf(one, space), rowsOf(other, space)),
  )
}

/** But for what a store says of itself: as whose owner it came to be where it is. */
function rowsOf({ spaces }: Store, space: KeySpace): unknown[] {
  return [...spaces[space].getRange({})]
    .filter(({ key }) => space !== 'meta' || key !== 'journal_position')
    .map(({ key, value }) => [key, value])
}
