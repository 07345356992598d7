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

/** Read and applied at once: a few entries of a busy service, or one of the longest. */
const READ_BYTES_MAX = 4 * 1024 * 1024

/** Entries that the store lacks are not kept any more: a snapshot has what they did, or a newer copy. */
export class StoreTooFarBehind extends Error {
  override readonly name = 'StoreTooFarBehind'

  constructor(cause: JournalTrimmed) {
    super(
      'the journal no longer has what the store is behind by: put back a newer copy of it first',
      { cause },
    )
  }
}

/** Where a store is after it has followed. */
export interface Followed {
  /** Its `seq` is below the end only by parts of a commit that is not whole. */
  readonly position: JournalPosition
  /** Name of the last entry that was read. */
  readonly last: string
}

/**
 * Brings a store further along its journal. Nothing may be stored at or below that end any more: it
 * was taken, or its owner said so.
 * @param end seq of the entry to stop at
 * @throws Error where the two do not belong together, or the store is too old for the journal: what
 *   to do is said, and nothing was applied but entries that follow
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
      const entry = decodeEntry(seq, body)
      position = belonging(position, entry)
      if (entry.previous !== last) throw setBack(after)
      last = nameOfEntry(body)
      after = seq
      // Those before it are of a commit whose owner ended amid it.
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
    // All of a read together: a store that is lost has years of them to follow, and each waits for the disk.
    if (position.seq > applied) await applyRows(environment, [...rows, positionRow(position)])
    applied = position.seq
  }
  return { position, last }
}

/**
 * Whether a store could go on with a journal: it has the store's last entry and no other in that
 * place, and one that follows. Changes neither.
 * @throws Error as `followJournal`, JournalUnavailable
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
  // Where its own is forgotten, the next one names it.
  const [there] = own
  const [following] = next
  let name = there === undefined ? null : nameOfEntry(there.body)
  if (name === null && following !== undefined) {
    name = decodeEntry(following.seq, following.body).previous
  }
  if (seq > 0 && name !== last) throw await proven(journal, partition, setBack(seq))
}

/** Of a store that takes its name from the journal. */
export const NO_POSITION: JournalPosition = {
  ...{ storeId: '', hasBase: false, seq: 0, last: NO_ENTRY },
  ...{ epoch: 0, claim: '', landed: '' },
}

/** The entry that the store has already: none, where the journal does not have it or forgot it. */
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
    'the store has records that are not of this journal, and the journal has entries: they are of two services, or the store was written without its journal; where the store was restored from a backup and the journal is whole, remove the store, and the journal brings back all of it; else begin another in an empty database, or put back a copy of the store that goes with this one',
  )
}

function setBack(seq: number): Error {
  return new Error(
    `the store has an entry ${seq} that its journal does not have: it is another journal, or one that was set back, as by a backup of its database`,
  )
}

/** @throws Error for an entry that is not of this store, or rests on what this store has not */
function belonging(position: JournalPosition, entry: JournalEntry): JournalPosition {
  const storeId = position.storeId === '' ? entry.storeId : position.storeId
  if (entry.storeId !== storeId) throw new Error('the journal is of another store')
  if (entry.isBase && !position.hasBase) {
    throw new Error(
      'the journal was begun by a store that had records already: put back a copy of that store first',
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
