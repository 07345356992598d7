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
  /** Whose users are in the store. */
  readonly cell: Cell
  /** For people: who took it. */
  readonly node: string
  readonly timers: Timers
  readonly log: {
    error(context: object, message: string): void
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /** Told after each chunk of the snapshot. @param of the store's file: more than there will be */
  readonly put: (bytes: number, of: number) => void
  readonly pace?: SnapshotPace
}

export interface Imported {
  readonly entries: number
  readonly snapshot: Snapshot
  /** Wallets whose share could not be carried, each of which the log names. */
  readonly sharesLeft: number
}

/**
 * Makes the store of a stopped service the base of a journal that is empty, and puts there what its first
 * start would: the operator's freeze, the shares of wallet keys, and a snapshot of all of it, from which a
 * lost store comes back. Whatever it is ended amid, it goes on when it is said again; said once more when all
 * is done, it changes nothing.
 * @throws UsageError where there is nothing to import, or store or journal are in use already
 * @throws HomeInUse while the service runs
 */
export function importStore(options: ImportOptions): Promise<Imported> {
  const { home, journal } = options
  const { snapshots } = journal
  if (snapshots === undefined) {
    throw new UsageError(
      'the engine of the journal keeps no snapshots, so nothing can be put there before there are entries: start the service with it, and keep a copy of service/store since then',
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
          `${(cause as Error).message}: end what uses that journal, or name an empty database`,
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
  const head = await journal.look(cell.number)
  requireOwn(home, position, head)
  const done = await doneAlready(context, position, head)
  if (done !== null) return { ...done, sharesLeft: 0 }
  const sharesLeft = await putAll(context)
  const there = await doneAlready(
    context,
    journalPositionOf(environment),
    await journal.look(cell.number),
  )
  if (there === null) throw new Error('the snapshot that was made is not there')
  return { ...there, sharesLeft }
}

/** A service that owns a journal says that it lives, from its first moment; an import never does. */
function requireOwn(home: string, position: JournalPosition | null, head: JournalHead): void {
  const { seq, beat, owner } = head
  if (position === null && seq > 0) {
    throw new UsageError(
      `the journal has ${seq} entries, which are not of the store of ${home}: name an empty database`,
    )
  }
  if (position === null && beat !== null) {
    throw new UsageError(
      `a service at ${owner?.node ?? 'an unknown place'} has taken the journal already, as one that begins: name an empty database`,
    )
  }
  if (position === null) return
  if (position.seq > seq) {
    throw new UsageError(
      `the store of ${home} has a journal already, and it is not the one that COUNTERSIGN_JOURNAL_FILE names, which is empty or was set back: name its own, or give that up by countersign cluster leave`,
    )
  }
  if (beat !== null) {
    throw new UsageError(
      `the store of ${home} has a journal already, and a service has gone on with it to entry ${seq}: there is nothing to import (countersign cluster snapshot puts a newer snapshot there)`,
    )
  }
}

/** @returns null: it is not */
async function doneAlready(
  { snapshots, cell }: Context,
  position: JournalPosition | null,
  { seq }: JournalHead,
): Promise<Omit<Imported, 'sharesLeft'> | null> {
  const { newest } = await snapshots.look(cell.number)
  if (position === null || newest === null || newest.seq !== seq || position.seq !== seq)
    return null
  return { entries: seq, snapshot: newest }
}

/** @returns as `carrySharesOnce` */
async function putAll(context: Context): Promise<number> {
  const { home, environment, journal, snapshots, cell, timers, put, pace = UNPACED } = context
  let ended: (error: unknown) => void = () => undefined
  // What is committed to a writer that ended is never answered.
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
  if (made.kind !== 'made') throw new Error('another snapshot was made meanwhile')
  const { epoch } = writer.owner
  await tidy({ ...options, journal, epoch, marginEntries: MARGIN_ENTRIES })
  return sharesLeft
}

/** As the threads of a service do, which find nothing left to carry then. */
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
  { owner }: JournalWriter,
  commits: Commits,
): Promise<number> {
  const layout = serviceLayout(home)
  const reader = createReader(environment)
  const keyStore = await openKeyStore(layout.keys, 'allowed')
  try {
    const wrappingKeys = await readWrappingKeys(layout.wrappingKey, keyStore)
    const carried = createCarriedShares(
      reader,
      () => owner,
      () => commits,
    )
    const shares = openShareStore('service', layout, wrappingKeys, carried)
    try {
      return await carrySharesOnce({
        ...{ reader, timers, log, journal: owner.journal },
        shares: {
          ...shares,
          async carry(walletId) {
            if (await shares.carry(walletId)) return
            throw new Error('the user side has to say which share counts, which the service asks')
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
    `there is no store in ${home} with anything in it to import: a service without one takes an empty journal at its first start`,
  )
}
