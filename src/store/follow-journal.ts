import { type Entry, type Journal, JournalTrimmed } from '../journal/journal.js'
import { proven } from '../journal/proven.js'
import { applyRows } from './apply-rows.js'
import type { Environment } from './environment.js'
import {
  decodeEntry,
  type JournalEntry,
  NO_ENTRY,
  nameOfEntry,
  splitCommits,
} from './journal-entry.js'
import {
  isEmptyStore,
  type JournalPosition,
  journalPositionOf,
  positionRow,
} from './journal-position.js'
import type { Row } from './rows.js'
import { decodeRows } from './rows-encoding.js'

/**
 * The most bytes read and applied at once: a few entries of a busy service, or one of the longest.
 */
const READ_BYTES_MAX = 4 * 1024 * 1024

/**
 * The journal no longer has entries that the store lacks. A snapshot, or a newer copy of the store,
 * has their effects.
 */
export class StoreTooFarBehind extends Error {
  override readonly name = 'StoreTooFarBehind'

  constructor(cause: JournalTrimmed) {
    super(
      'the journal no longer has the entries that the store lacks; restore a newer copy of the store first',
      { cause },
    )
  }
}

/** The state of a store after it followed its journal. */
export interface Followed {
  /** Below the end only if the last entries are parts of an unfinished commit. */
  readonly position: JournalPosition
  /** The name of the last entry that was read. */
  readonly last: string
}

/**
 * Applies the journal's entries to a store, up to an end. No entry at or below that end can change:
 * the caller acquired the journal, or the leader reported the end as stored.
 * @param end seq of the entry to stop at
 * @throws Error if the two do not belong together or the store is too old for the journal. The
 * message says what to do; only entries that follow the store's own were applied
 */
export async function followJournal(
  environment: Environment,
  journal: Pick<Journal, 'read' | 'trim'>,
  partition: number,
  end: number,
  start: JournalPosition,
): Promise<Followed> {
  let position = start
  if (position.seq > end) throw await proven(journal, partition, setBack(position.seq))
  let { last } = position
  let applied = position.seq
  let parts: JournalEntry[] = []
  for (let after = position.seq; after < end; ) {
    const entries = await read(journal, partition, after)
    if (entries.length === 0) {
      throw await proven(journal, partition, new Error(`the journal ends before its entry ${end}`))
    }
    const rows: Row[] = []
    for (const { seq, body } of entries) {
      if (seq > end) break
      if (seq !== after + 1) throw outOfPlace(after, seq)
      const entry = decodeEntry(seq, body)
      position = belonging(position, entry)
      if (entry.previous !== last) throw setBack(after)
      last = nameOfEntry(body)
      after = seq
      // Earlier parts belong to a commit that its leader did not finish.
      if (entry.part === 0) parts = []
      if (entry.part !== parts.length)
        throw new Error(`entry ${seq} of the journal has no beginning`)
      parts.push(entry)
      if (!entry.isLast) continue
      position = { ...position, seq, last }
      const content = Buffer.concat(parts.map((part) => part.content))
      for (const commit of splitCommits(content)) {
        for (const row of decodeRows(commit)) rows.push(row)
      }
      parts = []
    }
    // All entries of a read are applied together: a lost store has years of them to follow, and
    // each transaction waits for the disk.
    if (position.seq > applied) await applyRows(environment, [...rows, positionRow(position)])
    applied = position.seq
  }
  return { position, last }
}

/**
 * Checks whether a store could continue with a journal: the journal has the store's last entry in
 * its place, and the next one follows it. Changes neither.
 * @throws Error as `followJournal`; JournalUnavailable
 */
export async function checkBelongs(
  environment: Environment,
  journal: Pick<Journal, 'read' | 'trim'>,
  partition: number,
): Promise<void> {
  const known = journalPositionOf(environment)
  const position = known ?? NO_POSITION
  const { seq, last } = position
  const own = seq === 0 ? [] : await readOwn(journal, partition, seq)
  const isOther = known === null && !isEmptyStore(environment)
  const next = await read(journal, partition, seq).catch((error: unknown) => {
    if (isOther && error instanceof StoreTooFarBehind) throw ofTwo()
    throw error
  })
  if (isOther && next.length > 0) throw ofTwo()
  for (const entry of [...own, ...next]) {
    belonging(position, decodeEntry(entry.seq, entry.body))
  }
  // If the journal no longer has the store's last entry, the next one names it.
  const [there] = own
  const [following] = next
  let name = there === undefined ? null : nameOfEntry(there.body)
  if (name === null && following !== undefined) {
    name = decodeEntry(following.seq, following.body).previous
  }
  if (seq > 0 && name !== last) throw await proven(journal, partition, setBack(seq))
}

/** The position of a store that takes its id from the journal. */
export const NO_POSITION: JournalPosition = {
  ...{ storeId: '', hasBase: false, seq: 0, last: NO_ENTRY },
  ...{ epoch: 0, claim: '', landed: '' },
}

/** The store's last entry; empty if the journal does not have it, or no longer does. */
async function readOwn(
  journal: Pick<Journal, 'read'>,
  partition: number,
  seq: number,
): Promise<readonly Entry[]> {
  try {
    return (await journal.read(partition, seq - 1, 1)).slice(0, 1)
  } catch (error) {
    if (!(error instanceof JournalTrimmed)) throw error
    return []
  }
}

export function ofTwo(): Error {
  return new Error(
    'the store has records that this journal lacks, and the journal has entries: they belong to two services, or the store was written without its journal. If the store was restored from a backup and the journal is complete, remove the store, and the journal restores all of it. Otherwise begin a new journal in an empty database, or restore a copy of the store that matches this journal',
  )
}

function setBack(seq: number): Error {
  return new Error(
    `the store has an entry ${seq} that its journal lacks: this is another journal, or one that was rolled back, for example by restoring a backup of its database`,
  )
}

function outOfPlace(after: number, seq: number): Error {
  return new Error(
    `the journal has entry ${seq} after entry ${after}, so an entry was lost; restore a copy of its database that has it`,
  )
}

/** @throws Error for an entry of another store, or one that depends on records this store lacks */
function belonging(position: JournalPosition, entry: JournalEntry): JournalPosition {
  const storeId = position.storeId === '' ? entry.storeId : position.storeId
  if (entry.storeId !== storeId) throw new Error('the journal belongs to another store')
  if (entry.isBase && !position.hasBase) {
    throw new Error(
      'the journal was begun by a store that already had records; restore a copy of that store first',
    )
  }
  return { ...position, storeId }
}

async function read(journal: Pick<Journal, 'read'>, partition: number, after: number) {
  try {
    return await journal.read(partition, after, READ_BYTES_MAX)
  } catch (error) {
    if (!(error instanceof JournalTrimmed)) throw error
    throw new StoreTooFarBehind(error)
  }
}
