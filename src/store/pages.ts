import type { Environment } from './environment.js'
import type { KeySpace } from './key-spaces.js'
import { countScannedRow } from './rows-scanned.js'

/** A page of a list, newest first. `nextCursor` is the last id of the page, or null at the end. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

export interface PageOptions {
  readonly limit: number
  readonly cursor: string | null
}

/** Sorts after every ULID body. */
export const LAST = '~'

/**
 * The most records that one page scans, so that a filter without matches does not read a user's
 * whole history at once. The page is then short, with a cursor to continue from.
 */
const PAGE_SCAN_MAX = 5_000

/** Ids under `owner` in an index space, newest first, from just below `cursor`. */
export function* newestFirst(
  spaces: Environment['spaces'],
  space: KeySpace,
  owner: string,
  cursor: string | null,
): Generator<string> {
  const range = spaces[space].getKeys({
    start: [owner, cursor ?? LAST],
    end: [owner],
    exclusiveStart: cursor !== null,
    reverse: true,
  })
  for (const key of range) yield (key as unknown as [string, string])[1]
}

/** A page of the records listed under `owner` in an index space. */
export function pageIn<T>(
  spaces: Environment['spaces'],
  space: KeySpace,
  owner: string,
  { limit, cursor }: PageOptions,
  load: (id: string) => T | undefined,
): Page<T> {
  return pageOf(newestFirst(spaces, space, owner, cursor), limit, load)
}

/**
 * @param ids newest first, from just below the cursor
 * @param load returns undefined for a record that does not match
 */
export function pageOf<T>(
  ids: Iterable<string>,
  limit: number,
  load: (id: string) => T | undefined,
): Page<T> {
  const items: T[] = []
  let last: string | null = null
  let scanned = 0
  for (const id of ids) {
    if (items.length === limit || scanned === PAGE_SCAN_MAX) return { items, nextCursor: last }
    scanned++
    countScannedRow()
    last = id
    const item = load(id)
    if (item !== undefined) items.push(item)
  }
  return { items, nextCursor: null }
}
