import type { Transaction } from 'lmdb'
import { bareRecord, type Unsealed, unpacked } from '../encodings/sealing.js'
import { type Environment, SCHEMA_KEY } from '../environment.js'
import { type JournalPosition, POSITION } from '../journal-position.js'
import { KEY_SPACES, type KeySpace } from '../key-spaces.js'
import type { Row } from '../rows.js'

/**
 * What a snapshot has of a store: the rows that entries of the journal have brought there, as they
 * stand, and nothing that no entry has. Left out is what is made anew of them.
 */
const MADE_ANEW: ReadonlySet<KeySpace> = new Set([
  // By the thread of the retention, some at a time.
  'transactionSegments',
  // By `applyRows`, of the records that it writes.
  'keysByName',
  'walletsByName',
])

/** In `meta`, of the file and not of what is in it. */
const OF_THE_FILE: ReadonlySet<string> = new Set([SCHEMA_KEY, POSITION])

/**
 * The rows of one moment, by their spaces and keys.
 * @throws DamagedRecord at the first that is damaged: nothing may take the place of the entries that
 *   have it whole
 */
export function* carriedRows(
  { spaces }: Pick<Environment, 'spaces'>,
  moment: Transaction,
): Generator<Row> {
  for (const space of Object.keys(KEY_SPACES) as KeySpace[]) {
    if (MADE_ANEW.has(space)) continue
    for (const { key, record } of spaces[space].getStored(moment)) {
      if (space === 'meta' && OF_THE_FILE.has(String(key))) continue
      // The next one may lie where this one does.
      yield [space, key, Buffer.from(record) as unknown as Unsealed]
    }
  }
}

/** @returns null for a store that has no journal */
export function positionAt(
  { spaces }: Pick<Environment, 'spaces'>,
  moment: Transaction,
): JournalPosition | null {
  for (const { key, record } of spaces.meta.getStored(moment)) {
    if (key === POSITION) return unpacked(bareRecord(record) as Uint8Array) as JournalPosition
  }
  return null
}
