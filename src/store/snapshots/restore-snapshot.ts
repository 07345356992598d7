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
  readonly snapshots: Pick<Snapshots, 'readHead' | 'read'>
  readonly partition: number
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: { info(context: object, message: string): void }
  /** Called after each chunk. */
  readonly restored?: (progress: RestoreProgress) => void
}

export interface RestoreProgress {
  /** Seq of the entry that the snapshot ends at. */
  readonly seq: number
  readonly chunks: number
  readonly of: number
}

/** A snapshot from which a store can be restored. */
interface Restorable {
  readonly snapshot: Snapshot
  readonly manifest: Manifest
}

/**
 * Finds the current snapshot, if a store could continue from it.
 * @param storeId the store's id; '' if it has none yet
 * @returns null without a snapshot
 * @throws Error for a snapshot of another store, a damaged one, or one whose next entries were
 * trimmed
 */
export async function findRestorable(
  { journal, snapshots, partition }: Pick<RestoreOptions, 'journal' | 'snapshots' | 'partition'>,
  storeId: string,
): Promise<Restorable | null> {
  for (let failed = ''; ; ) {
    const { newest } = await snapshots.readHead(partition)
    if (newest === null) return null
    const { id, seq, chunks } = newest
    try {
      const index = chunks - 1
      const body = await snapshots.read(partition, id, index)
      const manifest = decodeManifest(index, seq, body)
      if (storeId !== '' && manifest.storeId !== storeId) {
        throw new Error('the journal belongs to another store')
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
 * Empties a store and fills it with the rows of its journal's snapshot. Until the last row is
 * written the store is marked as half restored (`isHalfRestored`), and a restore starts again. Its
 * earlier contents are lost, but the journal has everything that was acknowledged.
 * @param start the store's position, whose fields that identify the store are kept
 * @returns the position after the restore
 * @throws Error as `findRestorable`, and for a chunk that is damaged or missing, which it names
 */
export async function restoreSnapshot(
  options: RestoreOptions,
  start: JournalPosition,
): Promise<JournalPosition> {
  for (let failed = ''; ; ) {
    const found = await askUntilAvailable(options, () => findRestorable(options, start.storeId))
    if (found === null) throw new Error('the journal no longer has a snapshot')
    try {
      return await restoreFrom(options, found, start)
    } catch (error) {
      const { id } = found.snapshot
      // Another snapshot replaced it.
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
    throw new Error(`the journal's snapshot of entry ${seq} does not match its manifest`)
  }
  const position = { ...start, storeId, hasBase, seq, last }
  await applyRows(environment, [positionRow(position), restoredRow()])
  log.info({ seq, rows }, 'the store is restored')
  return position
}

/** One transaction, so that a half restored store is always marked as such. */
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

/** Whether another snapshot may exist by now. */
function isPassing(error: unknown): boolean {
  return error instanceof SnapshotGone || error instanceof JournalTrimmed
}
