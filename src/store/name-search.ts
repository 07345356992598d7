import { isNamed, wantedWords } from '../domain/name-words.js'
import type { Environment } from './environment.js'
import { beginningOf, type IndexedSpace, spaceByName } from './name-index.js'
import { LAST, type Page, type PageOptions } from './pages.js'
import { countScannedRow } from './rows-scanned.js'

/** Index reads for one page, of some ten microseconds each, and records that it loads. */
const ROWS_SCANNED_MAX = 5_000

/**
 * Returns a page of the records whose names match a text, newest first. After ROWS_SCANNED_MAX index reads
 * the page may be short, with a cursor to continue from. The reads follow the rarest of the words,
 * so that takes thousands of names that match all words but one.
 * @param load returns undefined if there is no such record
 */
export function pageNamed<T>(
  spaces: Environment['spaces'],
  space: IndexedSpace,
  user: string,
  { limit, cursor }: PageOptions,
  text: string,
  load: (id: string) => { readonly name: string; readonly value: T } | undefined,
): Page<T> {
  const wanted = wantedWords(text)
  const begins = wanted.map(beginningOf)
  const items: T[] = []
  let lastItem: string | null = null
  /** Ids above this bound are excluded; so is the bound itself if `isLeftOut` is set. */
  let bound = { id: cursor ?? LAST, isLeftOut: true }
  let agreed = 0
  for (let scanned = 0; begins.length > 0; scanned++) {
    if (scanned === ROWS_SCANNED_MAX) {
      return { items, nextCursor: bound.isLeftOut ? bound.id : bound.id + LAST }
    }
    countScannedRow()
    const found = newestAt(spaces, space, [user, begins[scanned % begins.length] ?? ''], bound)
    if (found === null) break
    agreed = found === bound.id && !bound.isLeftOut ? agreed + 1 : 1
    bound = { id: found, isLeftOut: agreed === begins.length }
    if (!bound.isLeftOut) continue
    agreed = 0
    const record = load(found)
    if (record === undefined || !isNamed(record.name, wanted)) continue
    if (items.length === limit) return { items, nextCursor: lastItem }
    items.push(record.value)
    lastItem = found
  }
  return { items, nextCursor: null }
}

function newestAt(
  spaces: Environment['spaces'],
  space: IndexedSpace,
  begin: readonly [user: string, begin: string],
  { id, isLeftOut }: { readonly id: string; readonly isLeftOut: boolean },
): string | null {
  const range = {
    ...{ start: [...begin, id], end: [...begin], exclusiveStart: isLeftOut },
    ...{ reverse: true, limit: 1 },
  }
  for (const key of spaces[spaceByName(space)].getKeys(range)) {
    return (key as unknown as [string, string, string])[2]
  }
  return null
}
