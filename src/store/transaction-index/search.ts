import type { TxId, UserId } from '../../domain/ids.js'
import type { Transaction } from '../../domain/transaction.js'
import { isWanted, type TransactionFilter } from '../../domain/transaction-filter.js'
import type { Environment } from '../environment.js'
import { LAST, newestFirst, type Page, type PageOptions } from '../pages.js'
import { countScannedRow } from '../rows-scanned.js'
import { addPlaces, countOf, idAtPlace, type PostingPart, wantedTexts } from './segment.js'

type Spaces = Environment['spaces']

/** Records that one page loads: recent transactions are not indexed yet and are read one by one. */
const LOADED_MAX = 5_000
/** Segments that one page reads, some two million transactions; a part takes microseconds. */
const SEGMENTS_MAX = 2_048

/** The id up to which a user's transactions are indexed; null if none is. */
export function lastIndexed(spaces: Spaces, user: UserId): TxId | null {
  const newest = { start: [user, 'ids', LAST], end: [user, 'ids'], reverse: true, limit: 1 }
  for (const { value } of spaces.transactionSegments.getRange(newest)) {
    const ids = value as Buffer
    return idAtPlace(ids, countOf(ids) - 1)
  }
  return null
}

/**
 * A page of the transactions that match a filter, newest first. It may be short, with a cursor to
 * continue from, because a page loads at most LOADED_MAX records and reads at most SEGMENTS_MAX
 * segments.
 * @param load returns the current record
 */
export function searchTransactions(
  spaces: Spaces,
  user: UserId,
  { limit, cursor }: PageOptions,
  filter: TransactionFilter,
  load: (id: TxId) => Transaction | undefined,
): Page<Transaction> {
  const items: Transaction[] = []
  let loaded = 0
  let last: string | null = null
  const isFull = () => items.length === limit || loaded === LOADED_MAX
  const take = (id: TxId) => {
    loaded++
    countScannedRow()
    last = id
    const tx = load(id)
    if (tx !== undefined && isWanted(tx, filter)) items.push(tx)
  }

  const indexed = lastIndexed(spaces, user)
  for (const id of newestFirst(spaces, 'transactionsByUser', user, cursor)) {
    if (indexed !== null && id <= indexed) break
    if (isFull()) return { items, nextCursor: last }
    take(id as TxId)
  }
  if (indexed === null) return { items, nextCursor: null }

  const texts = wantedTexts(filter)
  let above = cursor !== null && cursor <= indexed ? cursor : indexed + LAST
  let scanned = 0
  for (const firstId of segmentsBelow(spaces, user, cursor)) {
    countScannedRow()
    if (scanned++ === SEGMENTS_MAX) return { items, nextCursor: last }
    const found = placesIn(spaces, user, firstId, texts)
    const noted = notedIn(spaces, user, firstId, above)
    above = firstId
    if (found === null || found.size > 0 || noted.length > 0) {
      const ids = spaces.transactionSegments.get([user, 'ids', firstId]) as Buffer
      for (const id of idsAt(ids, found, noted)) {
        if (cursor !== null && id >= cursor) continue
        if (isFull()) return { items, nextCursor: last }
        take(id)
      }
    }
    last = firstId
  }
  for (const id of notedIn(spaces, user, '', above).reverse()) {
    if (isFull()) return { items, nextCursor: last }
    take(id)
  }
  return { items, nextCursor: null }
}

/**
 * Transactions about which the index is incomplete or outdated: a few of one segment, or before the
 * first.
 */
function notedIn(spaces: Spaces, user: UserId, from: string, below: string): TxId[] {
  const range = { start: [user, from], end: [user, below] }
  return [...spaces.unindexedByUser.getKeys(range)].map(
    (key) => (key as unknown as [UserId, TxId])[1],
  )
}

/** First ids, newest first, of the segments with anything before the cursor. */
function* segmentsBelow(spaces: Spaces, user: UserId, cursor: string | null): Generator<string> {
  const range = {
    start: [user, 'ids', cursor ?? LAST],
    end: [user, 'ids'],
    exclusiveStart: true,
    reverse: true,
  }
  for (const key of spaces.transactionSegments.getKeys(range)) {
    yield (key as unknown as [UserId, string, string])[2]
  }
}

/** @returns null if the filter names no texts, so every place matches */
function placesIn(
  spaces: Spaces,
  user: UserId,
  firstId: string,
  wanted: readonly (readonly [PostingPart, readonly string[]])[],
): Set<number> | null {
  if (wanted.length === 0) return null
  return wanted.reduce<Set<number> | null>((before, [part, texts]) => {
    if (before?.size === 0) return before
    const found = new Set<number>()
    addPlaces(spaces.transactionSegments.get([user, part, firstId]) as Buffer, texts, found)
    return before === null ? found : new Set([...found].filter((place) => before.has(place)))
  }, null)
}

/** Sorts newest first. */
function idsAt(ids: Buffer, places: Set<number> | null, noted: readonly TxId[]): TxId[] {
  const count = countOf(ids)
  const found = new Set<TxId>()
  for (const place of places ?? Array.from({ length: count }, (_, at) => at)) {
    found.add(idAtPlace(ids, place))
  }
  for (const id of noted) found.add(id)
  return [...found].sort().reverse()
}
