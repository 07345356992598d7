import { type Journal, JournalTrimmed } from '../journal/journal.js'
import type { Environment } from './environment.js'
import { decodeEntry, type JournalEntry, STORE_ID_BYTES, splitCommits } from './journal-entry.js'
import {
  isEmptyStore,
  type JournalPosition,
  journalPositionOf,
  positionRow,
} from './journal-position.js'
import { applyRows } from './rows.js'
import { decodeRows } from './rows-encoding.js'

/** Read and applied at once: a few entries of a busy service, or one of the longest. */
const READ_BYTES_MAX = 4 * 1024 * 1024

/**
 * Brings a store up to the end of its journal, before anything reads it. The journal has to be taken
 * already, so that nothing is stored behind its end meanwhile.
 * @param end seq of the last entry there is
 * @param draw random bytes
 * @returns where the store is now; `seq` is below `end` only by parts of a commit that never ended
 * @throws Error where the two do not belong together, or the store is too old for the journal: what
 *   to do is said, and nothing was applied but entries that follow
 */
export async function followJournal(
  environment: Environment,
  journal: Pick<Journal, 'read'>,
  partition: number,
  end: number,
  draw: (count: number) => Uint8Array,
): Promise<JournalPosition> {
  let position = await startOf(environment, end, draw)
  if (position.seq > end) {
    throw new Error(
      `the store has entry ${position.seq} of its journal, which ends with ${end}: it is another journal, or one that was set back`,
    )
  }
  let parts: JournalEntry[] = []
  for (let after = position.seq; after < end; ) {
    const entries = await read(journal, partition, after)
    if (entries.length === 0) throw new Error(`the journal ends before its entry ${end}`)
    for (const { seq, body } of entries) {
      const entry = decodeEntry(seq, body)
      position = belonging(position, entry)
      after = seq
      // Those before it are of a commit whose owner ended amid it.
      if (entry.part === 0) parts = []
      if (entry.part !== parts.length)
        throw new Error(`entry ${seq} of the journal has no beginning`)
      parts.push(entry)
      if (!entry.isLast) continue
      position = { ...position, seq }
      const content = Buffer.concat(parts.map((part) => part.content))
      const rows = splitCommits(content).flatMap((commit) => decodeRows(commit))
      await applyRows(environment, [...rows, positionRow(position)])
      parts = []
    }
  }
  return position
}

/**
 * Whether a store could go on with a journal, as far as what is next for it shows; changes neither.
 * @throws Error as `followJournal`, JournalUnavailable
 */
export async function checkBelongs(
  environment: Environment,
  journal: Pick<Journal, 'read'>,
  partition: number,
): Promise<void> {
  const known = journalPositionOf(environment)
  let position = known ?? { storeId: '', hasBase: false, seq: 0 }
  const entries = await readFrom(journal, partition, position.seq)
  if (known === null && entries.length > 0 && !isEmptyStore(environment)) throw ofTwo()
  if (position.seq > 0 && entries.length === 0) {
    throw new Error(
      `the store has entry ${position.seq} of its journal, which ends before it: it is another journal, or one that was set back`,
    )
  }
  for (const { seq, body } of entries) position = belonging(position, decodeEntry(seq, body))
}

/** With the entry that the store has already, where the journal still has it. */
async function readFrom(journal: Pick<Journal, 'read'>, partition: number, seq: number) {
  try {
    return await journal.read(partition, Math.max(0, seq - 1), READ_BYTES_MAX)
  } catch (error) {
    if (!(error instanceof JournalTrimmed)) throw error
    return read(journal, partition, seq)
  }
}

function ofTwo(): Error {
  return new Error(
    'the store has records that are not of this journal, and the journal has entries: they are of two services, or the store was written without its journal; begin another in an empty database, or put back a copy of the store that goes with this one',
  )
}

/** What is known of a store before anything is read; an empty one takes its name from the journal. */
async function startOf(
  environment: Environment,
  end: number,
  draw: (count: number) => Uint8Array,
): Promise<JournalPosition> {
  const known = journalPositionOf(environment)
  if (known !== null) return known
  const isEmpty = isEmptyStore(environment)
  if (isEmpty && end > 0) return { storeId: '', hasBase: false, seq: 0 }
  if (end > 0) throw ofTwo()
  const storeId = Buffer.from(draw(STORE_ID_BYTES)).toString('hex')
  const position = { storeId, hasBase: !isEmpty, seq: 0 }
  await applyRows(environment, [positionRow(position)])
  return position
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
    throw new Error(
      'the journal no longer has what the store is behind by: put back a newer copy of it first',
      { cause: error },
    )
  }
}
