import type { Transaction } from 'lmdb'
import { bareRecord, type Unsealed, unpacked } from '../encodings/sealing.js'
import { type Environment, SCHEMA_KEY } from '../environment.js'
import { type JournalPosition, POSITION } from '../journal-position.js'
import { KEY_SPACES, type KeySpace } from '../key-spaces.js'
import type { Row } from '../rows.js'

/**
 * A snapshot has the current rows that entries of the journal brought into the store, and nothing
 * else. These spaces are left out because they are derived from the others.
 */
const MADE_ANEW: ReadonlySet<KeySpace> = new Set([
  // Derived by the retention thread, some at a time.
  'transactionSegments',
  // Derived by `applyRows` from the records that it writes.
  'keysByName',
  'walletsByName',
])

/** Keys of `meta` that describe the file and not its contents. */
const OF_THE_FILE: ReadonlySet<string> = new Set([SCHEMA_KEY, POSITION])

/**
 * Yields the rows of one moment, by space and key.
 * @throws DamagedRecord at the first damaged record, because a snapshot replaces entries in which
 * the record is whole
 */
export function* carriedRows(
  { spaces }: Pick<Environment, 'spaces'>,
  moment: Transaction,
): Generator<Row> {
  for (const space of Object.keys(KEY_SPACES) as KeySpace[]) {
    if (MADE_ANEW.has(space)) continue
    for (const { key, record } of spaces[space].getStored(moment)) {
      if (space === 'meta' && OF_THE_FILE.has(String(key))) continue
      // A copy, because the next record may use the same bytes.
      yield [space, key, Buffer.from(record) as unknown as Unsealed]
    }
  }
}

/** @returns null for a store without a journal */
export function positionAt(
  { spaces }: Pick<Environment, 'spaces'>,
  moment: Transaction,
): JournalPosition | null {
  for (const { key, record } of spaces.meta.getStored(moment)) {
    if (key === POSITION) return unpacked(bareRecord(record) as Uint8Array) as JournalPosition
  }
  return null
}
