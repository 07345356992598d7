import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { carrySharesOnce } from '../../../actors/custody/carry-shares.js'
import type { Timers } from '../../clock/timers.js'
import { serviceLayout } from '../../custody/domain-keys/layout.js'
import { refuseHalfRestored } from '../../custody/domain-keys/pending-restore.js'
import { openShareStore } from '../../custody/domain-keys/share-store.js'
import { lockStopped } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { openKeyStore } from '../../custody/key-stores/open-key-store.js'
import { readWrappingKeys } from '../../custody/key-stores/wrapping-key.js'
import type { Cell } from '../../domain/cells.js'
import { JournalFenced } from '../../journal/append-until-known.js'
import {
  type Journal,
  type JournalHead,
  JournalOvertaken,
  type Snapshot,
  type Snapshots,
} from '../../journal/journal.js'
import type { Commits } from '../../store/commits.js'
import { type Environment, openBesideService } from '../../store/environment.js'
import { attachEventSequence, createEventSequenceBuffer } from '../../store/event-sequence.js'
import {
  isEmptyStore,
  type JournalPosition,
  journalPositionOf,
} from '../../store/journal-position.js'
import type { JournalWriter } from '../../store/journal-writer.js'
import { journaledCommits } from '../../store/journaled-commits.js'
import { JournalHasSuccessor, openJournaledStore } from '../../store/journaled-store.js'
import { createReader } from '../../store/reader.js'
import { makeSnapshot, type SnapshotPace, UNPACED } from '../../store/snapshots/make-snapshot.js'
import { tidy } from '../../store/snapshots/tidy.js'
import { createCarriedShares } from '../../wiring/carried-shares.js'
import { mirrorFreeze } from '../../wiring/mirror-freeze.js'
import { UsageError } from '../exit-codes.js'
import { MARGIN_ENTRIES } from './snapshot-of-home.js'

export interface ImportOptions {
  readonly home: string
  readonly journal: Journal
  /** The cell whose users are in the store. */
  readonly cell: Cell
  /** A name for people, stored with the leadership. */
  readonly node: string
  readonly timers: Timers
  readonly log: {
    error(context: object, message: string): void
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /**
   * Called after each chunk of the snapshot.
   * @param of the size of the store's file, which the snapshot does not exceed
   */
  readonly put: (bytes: number, of: number) => void
  readonly pace?: SnapshotPace
}

export interface Imported {
  readonly entries: number
  readonly snapshot: Snapshot
  /** The number of wallets whose share could not be copied; the log names each. */
  readonly sharesLeft: number
}

/**
 * Makes a stopped service's store the base of an empty journal. It writes what the service's first
 * start would: the operator's freeze, the shares of wallet keys, and a snapshot of everything, from
 * which a lost store is recovered. After an interruption the next run continues; a run after the
 * last step changes nothing.
 * @throws UsageError when there is nothing to import, or store or journal are already in use
 * @throws HomeInUse while the service runs
 */
export function importStore(options: ImportOptions): Promise<Imported> {
  const { home, journal } = options
  const { snapshots } = journal
  if (snapshots === undefined) {
    throw new UsageError(
      "this journal's engine keeps no snapshots, so nothing can be imported: start the service with the journal, and keep a copy of service/store from that time",
    )
  }
  const directory = join(home, 'service', 'store')
  if (!existsSync(join(directory, 'data.mdb'))) throw nothingIn(home)
  return holding(
    () => lockStopped(home, 'service', 'cluster import'),
    async () => {
      refuseHalfRestored(serviceLayout(home))
      const environment = openBesideService(directory)
      try {
        return await importInto({ ...options, environment, snapshots })
      } catch (cause) {
        const isOthers = [JournalFenced, JournalOvertaken, JournalHasSuccessor].some(
          (kind) => cause instanceof kind,
        )
        if (!isOthers) throw cause
        throw new UsageError(
          `${(cause as Error).message}: stop what uses that journal, or name an empty database`,
          { cause },
        )
      } finally {
        await environment.root.close()
      }
    },
  )
}

interface Context extends ImportOptions {
  readonly environment: Environment
  readonly snapshots: Snapshots
}

async function importInto(context: Context): Promise<Imported> {
  const { home, environment, journal, cell } = context
  const position = journalPositionOf(environment)
  if (position === null && isEmptyStore(environment)) throw nothingIn(home)
  const head = await journal.readHead(cell.number)
  requireOwn(home, position, head)
  const done = await doneAlready(context, position, head)
  if (done !== null) return { ...done, sharesLeft: 0 }
  const sharesLeft = await putAll(context)
  const there = await doneAlready(
    context,
    journalPositionOf(environment),
    await journal.readHead(cell.number),
  )
  if (there === null) throw new Error('the snapshot was made but cannot be found')
  return { ...there, sharesLeft }
}

/** A service that leads a journal sends heartbeats from its first moment; an import never does. */
function requireOwn(home: string, position: JournalPosition | null, head: JournalHead): void {
  const { seq, beat, owner } = head
  if (position === null && seq > 0) {
    throw new UsageError(
      `the journal has ${seq} entries that do not belong to the store of ${home}: name an empty database`,
    )
  }
  if (position === null && beat !== null) {
    throw new UsageError(
      `a service at ${owner?.node ?? 'an unknown place'} already leads this journal as a new one: name an empty database`,
    )
  }
  if (position === null) return
  if (position.seq > seq) {
    throw new UsageError(
      `the store of ${home} has a journal already, and it is not the one that COUNTERSIGN_JOURNAL_FILE names, which is empty or was rolled back: name its own journal, or detach from it with countersign cluster leave`,
    )
  }
  if (beat !== null) {
    throw new UsageError(
      `the store of ${home} has a journal already, and a service has continued it to entry ${seq}: there is nothing to import. For a newer snapshot, run countersign cluster snapshot`,
    )
  }
}

/** @returns null when it is not done */
async function doneAlready(
  { snapshots, cell }: Context,
  position: JournalPosition | null,
  { seq }: JournalHead,
): Promise<Omit<Imported, 'sharesLeft'> | null> {
  const { newest } = await snapshots.readHead(cell.number)
  if (position === null || newest === null || newest.seq !== seq || position.seq !== seq)
    return null
  return { entries: seq, snapshot: newest }
}

/** @returns as `carrySharesOnce` */
async function putAll(context: Context): Promise<number> {
  const { home, environment, journal, snapshots, cell, timers, put, pace = UNPACED } = context
  let ended: (error: unknown) => void = () => undefined
  // A commit to a writer that has ended is never answered.
  const fatal = new Promise<never>((_, reject) => {
    ended = reject
  })
  fatal.catch(() => undefined)
  const writer = await openJournaledStore({ ...context, fatal: ended, overtakes: null })
  const sharesLeft = await Promise.race([carryInto(context, writer), fatal])
  const options = { snapshots, partition: cell.number, timers }
  const fileBytes = statSync(join(home, 'service', 'store', 'data.mdb')).size
  const made = await makeSnapshot({
    ...{ ...options, environment, pace },
    put: ({ bytes }) => put(bytes, fileBytes),
  })
  if (made.kind === 'fenced') throw new JournalFenced(made.epoch)
  if (made.kind !== 'made')
    throw new Error('another snapshot was made at the same time: run this again')
  const { epoch } = writer.leadership
  await tidy({ ...options, journal, epoch, marginEntries: MARGIN_ENTRIES })
  return sharesLeft
}

/** Copies shares as the service's threads do, which then find nothing left to copy. */
async function carryInto(context: Context, writer: JournalWriter): Promise<number> {
  const { home, environment, timers, log } = context
  const reader = createReader(environment)
  const buffer = createEventSequenceBuffer(reader.events.lastSeqs())
  const sequence = attachEventSequence(buffer, () => false)
  const commits = journaledCommits(environment, sequence, writer.commit)
  await mirrorFreeze({ home, reader, commits, timers, log }).close()
  return carryShares(context, writer, commits)
}

async function carryShares(
  { home, environment, timers, log }: Context,
  { leadership }: JournalWriter,
  commits: Commits,
): Promise<number> {
  const layout = serviceLayout(home)
  const reader = createReader(environment)
  const keyStore = await openKeyStore(layout.keys, 'allowed')
  try {
    const wrappingKeys = await readWrappingKeys(layout.wrappingKey, keyStore)
    const carried = createCarriedShares(
      reader,
      () => leadership,
      () => commits,
    )
    const shares = openShareStore('service', layout, wrappingKeys, carried)
    try {
      return await carrySharesOnce({
        ...{ reader, timers, log, journal: leadership.journal },
        shares: {
          ...shares,
          async carry(walletId) {
            if (await shares.carry(walletId)) return
            throw new Error(
              'only the identity provider can decide which share counts: start the service, which asks it',
            )
          },
        },
      })
    } finally {
      await shares.close()
    }
  } finally {
    await keyStore.close()
  }
}

function nothingIn(home: string): UsageError {
  return new UsageError(
    `the store in ${home} has nothing to import: start the service with the empty journal instead`,
  )
}
