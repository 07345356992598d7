import type { Timers } from '../../clock/timers.js'
import { askUntilAvailable } from '../../journal/ask-until-available.js'
import {
  type Journal,
  JournalTrimmed,
  type Snapshot,
  SnapshotGone,
  type Snapshots,
} from '../../journal/journal.js'
import { applyRows } from '../apply-rows.js'
import { type Environment, restoredRow, restoringRow } from '../environment.js'
import { NO_ENTRY } from '../journal-entry.js'
import { type JournalPosition, positionRow } from '../journal-position.js'
import { KEY_SPACES, type KeySpace } from '../key-spaces.js'
import type { Row } from '../rows.js'
import { decodeManifest, decodeRowsChunk, type Manifest } from './chunk.js'

export interface RestoreOptions {
  readonly environment: Environment
  readonly journal: Pick<Journal, 'read'>
  readonly snapshots: Pick<Snapshots, 'look' | 'read'>
  readonly partition: number
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: { info(context: object, message: string): void }
  /** Told after each chunk. */
  readonly restored?: (progress: RestoreProgress) => void
}

export interface RestoreProgress {
  /** Of the entry that the snapshot is as of. */
  readonly seq: number
  readonly chunks: number
  readonly of: number
}

/** A snapshot that a store could be restored from. */
export interface Restorable {
  readonly snapshot: Snapshot
  readonly manifest: Manifest
}

/**
 * The snapshot that is there, where a store could go on from it.
 * @param storeId of that store; '' where it has none yet
 * @returns null where there is none
 * @throws Error for one that is of another store, is damaged, or whose next entries are not kept
 */
export async function findRestorable(
  { journal, snapshots, partition }: Pick<RestoreOptions, 'journal' | 'snapshots' | 'partition'>,
  storeId: string,
): Promise<Restorable | null> {
  for (let failed = ''; ; ) {
    const { newest } = await snapshots.look(partition)
    if (newest === null) return null
    const { id, seq, chunks } = newest
    try {
      const index = chunks - 1
      const body = await snapshots.read(partition, id, index)
      const manifest = decodeManifest(index, seq, body)
      if (storeId !== '' && manifest.storeId !== storeId) {
        throw new Error('the journal is of another store')
      }
      await journal.read(partition, seq, 1)
      return { snapshot: newest, manifest }
    } catch (error) {
      if (!isPassing(error) || id === failed) throw error
      failed = id
    }
  }
}

/**
 * Empties a store and fills it with the rows of its journal's snapshot. Until the last of them is
 * there, the store says that it is half of one (`isHalfRestored`), and whoever restores it begins
 * anew. What it had is lost: the journal has all that it acknowledged.
 * @param start its position, of which what tells whose it is stays
 * @returns where it is then
 * @throws Error as `findRestorable`, and for a chunk that is damaged or missing, which it names
 */
export async function restoreSnapshot(
  options: RestoreOptions,
  start: JournalPosition,
): Promise<JournalPosition> {
  for (let failed = ''; ; ) {
    const found = await askUntilAvailable(options, () => findRestorable(options, start.storeId))
    if (found === null) throw new Error('the journal has no snapshot any more')
    try {
      return await restoreFrom(options, found, start)
    } catch (error) {
      const { id } = found.snapshot
      // Another took its place meanwhile.
      if (!isPassing(error) || id === failed) throw error
      failed = id
    }
  }
}

async function restoreFrom(
  options: RestoreOptions,
  { snapshot, manifest }: Restorable,
  start: JournalPosition,
): Promise<JournalPosition> {
  const { environment, snapshots, partition, log } = options
  const { id, chunks } = snapshot
  const { storeId, hasBase, seq, last } = manifest
  log.info({ seq, chunks }, 'the store is restored from the snapshot of its journal')
  empty(environment, { ...start, storeId, hasBase, seq: 0, last: NO_ENTRY })
  let name = NO_ENTRY
  let rows = 0
  for (let index = 0; index < chunks - 1; index++) {
    const body = await askUntilAvailable(options, () => snapshots.read(partition, id, index))
    const chunk = decodeRowsChunk(index, manifest, name, body)
    name = chunk.name
    rows += chunk.rows.length
    await applyRows(environment, chunk.rows)
    options.restored?.({ seq, chunks: index + 1, of: chunks })
  }
  if (name !== manifest.lastChunk || rows !== manifest.rows) {
    throw new Error(`the journal's snapshot of entry ${seq} does not end as it says`)
  }
  const position = { ...start, storeId, hasBase, seq, last }
  await applyRows(environment, [positionRow(position), restoredRow()])
  log.info({ seq, rows }, 'the store is restored')
  return position
}

/** In one transaction: what is half a store is never without the word that it is. */
function empty({ root, spaces }: Environment, position: JournalPosition): void {
  root.transactionSync(() => {
    for (const space of Object.keys(KEY_SPACES) as KeySpace[]) spaces[space].clearSync()
    put(restoringRow())
    put(positionRow(position))
  })

  function put([space, key, value]: Row): void {
    if (value !== null) spaces[space].putSync(key, value)
  }
}

/** Where another snapshot may be there by now. */
function isPassing(error: unknown): boolean {
  return error instanceof SnapshotGone || error instanceof JournalTrimmed
}
