import type { Registry } from 'prom-client'
import type { Timers } from '../clock/timers.js'
import { cellsOf, readJournalFile } from '../config/journal.js'
import { bringFreeze } from '../custody/instance-freeze.js'
import { openSigningCheck } from '../custody/key-stores/signing-check.js'
import {
  readJournalPermit,
  removeJournalPermit,
  writeJournalPermit,
} from '../disk/journal-permit.js'
import { type Journal, JournalOvertaken } from '../journal/journal.js'
import { openEngine } from '../journal/open-engine.js'
import { createOwnerBeats } from '../journal/owner-beats.js'
import type { JournalOwner } from '../quorum-protocol/service-boot.js'
import type { QuorumReach } from '../service-custody/quorum-reach.js'
import { carriedFreezeOf } from '../store/carried-freeze.js'
import type { Environment } from '../store/environment.js'
import type { FollowProgress } from '../store/follow-owner.js'
import { journalPositionOf } from '../store/journal-position.js'
import type { JournalWriter } from '../store/journal-writer.js'
import {
  type JournaledStoreOptions,
  JournalHasSuccessor,
  openJournaledStore,
} from '../store/journaled-store.js'
import { createReader } from '../store/reader.js'
import type { SnapshotMade } from '../store/snapshots/make-snapshot.js'
import { keepSnapshots, type SnapshotKeeper } from '../store/snapshots/snapshot-keeper.js'
import { standBy } from '../store/stand-by.js'
import { endWhenDeposed } from './end-when-deposed.js'
import { hearOfMove } from './hear-of-move.js'
import { createJournalMetrics } from './journal-metrics.js'
import { leaveWithoutQuorum } from './leave-without-quorum.js'
import type { NodeLink } from './node-link.js'
import type { WriteStops } from './write-stops.js'

export interface ServiceJournal extends JournalWriter {
  /** Null where the engine keeps none. */
  readonly snapshots: SnapshotKeeper | null
  /** For the user side, which approves nothing of an earlier one. */
  readonly owner: JournalOwner
  /** From now on this node is left where it could sign nothing, and another one that waits could. */
  serves(): void
  /**
   * Nothing may be committed any more. A standby is told that it need not wait, but where a successor
   * of this home does: that one is to go on with it.
   */
  close(): Promise<void>
}

export interface ServiceJournalOptions {
  readonly home: string
  readonly mode: 'dev' | 'live'
  /** What others know this one by once it owns the journal. */
  readonly node: string
  /** COUNTERSIGN_JOURNAL_FILE; null: there is no journal. */
  readonly file: string | null
  readonly role: 'owner' | 'standby'
  /** By which those that wait say so; null: there is none. */
  readonly link: Pick<NodeLink, 'anyWaits' | 'stored' | 'storedAfter'> | null
  /** Whom it signs with. */
  readonly reach: () => QuorumReach
  /** Of entries after the last snapshot: with more, the next is made. */
  readonly tailBytesMax: number
  /** In a thread of its own. */
  readonly makeSnapshot: (
    start: { readonly journalFile: string; readonly partition: number },
    stopping: AbortSignal,
  ) => Promise<SnapshotMade>
  /** Another service of this home waits for the end of this one. */
  readonly hasSuccessor: () => boolean
  readonly environment: Environment
  readonly timers: Timers
  /** Only where there is a journal. */
  readonly registry: Registry
  /** Begun where a standby waits: why it would refuse writes as the owner. */
  readonly watchWriteStops: () => WriteStops
  /** A standby begins to wait: what it tells of its progress goes here. */
  readonly waits: (progress: () => FollowProgress | null) => Promise<void>
  /** Told of each look at the owner meanwhile. */
  readonly followed: (progress: FollowProgress) => void
  /** A node that waits and is told to end takes nothing over: it would be gone a moment later. */
  readonly isEnding: () => boolean
  readonly log: {
    fatal(context: object, message: string): void
    error(context: object, message: string): void
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
}

const LEFT_OUT =
  'the store has a journal, and COUNTERSIGN_JOURNAL_FILE names none: what it stored without it could never come back, and a standby would go on beside it. Set the variable, or say `countersign cluster leave`, which lets the store go on alone for good'

const TAKE_BACK =
  '`countersign cluster take` lets the next start here take it back, which ends that one'

/**
 * Takes the journal for this home and brings its store up to it; a standby as soon as its owner is
 * gone, and follows it until then.
 *
 * A service that is fenced ends, and so does each that its supervisor starts on its store, but for a
 * standby: the journal has a later owner than the store knows of.
 * @returns null where no journal is asked for
 * @throws Error for a home whose journal another service took over, or that has one and is told of
 *   none, and as `openJournaledStore`
 */
export async function openServiceJournal(
  options: ServiceJournalOptions,
): Promise<ServiceJournal | null> {
  const { home, file, role, environment, timers, log } = options
  if (file === null) {
    if (journalPositionOf(environment) !== null) throw new Error(LEFT_OUT)
    return null
  }
  const settings = readJournalFile(file)
  const { own: cell } = cellsOf(settings)
  const journal = await openEngine(settings, log)
  const metrics = createJournalMetrics(options.registry)
  const beats = createOwnerBeats(journal, cell.number, timers)
  const store = {
    ...{ environment, timers, log, journal, cell, appended: metrics.appended },
    ...(options.link === null ? {} : { stored: options.link.stored }),
    node: options.node,
    taken: ({ epoch, seq }) => beats.begin(epoch, () => seq),
    fatal(err) {
      log.fatal({ err }, 'the journal takes nothing more of this service')
      process.exit(1)
    },
  } satisfies Omit<JournaledStoreOptions, 'overtakes'>
  const writer = await (role === 'standby' ? wait(options, store) : take(home, store))
  beats.begin(writer.owner.epoch, () => writer.readings.stored)
  options.link?.stored(writer.owner.epoch, writer.readings.stored)
  // What the operator froze at another node is frozen here before anything can be signed.
  const { freezes } = createReader(environment).fresh()
  bringFreeze(home, 'service', carriedFreezeOf(freezes), timers.now(), log)
  const snapshots = keepSnapshotsOf(options, journal, writer, file)
  metrics.show(writer, snapshots)
  const moves = hearOfMove({
    ...{ home, role, writer, log, node: options.node, link: options.link },
    end: () => process.kill(process.pid, 'SIGTERM'),
  })
  const watches: (() => void)[] = []
  return {
    ...writer,
    snapshots,
    serves() {
      const { reach } = options
      const deposed = store.fatal
      watches.push(
        leaveWithoutQuorum({ reach, timers, log, leave: moves.leave }),
        endWhenDeposed({ journal, owner: writer.owner, reach, deposed, timers }),
      )
    },
    async close() {
      for (const end of watches) end()
      moves.stop()
      const ended = snapshots?.close()
      if (options.hasSuccessor()) {
        permitSuccessor(home, writer.owner.epoch, log)
        await beats.handOver()
      } else await beats.leave()
      await ended
      await journal.close()
    },
  }
}

function keepSnapshotsOf(
  { environment, timers, log, tailBytesMax, makeSnapshot }: ServiceJournalOptions,
  journal: Journal,
  { owner, readings }: JournalWriter,
  journalFile: string,
): SnapshotKeeper | null {
  const { snapshots } = journal
  if (snapshots === undefined) return null
  const hasBase = journalPositionOf(environment)?.hasBase ?? false
  const partition = owner.cell.number
  return keepSnapshots({
    ...{ journal, snapshots, partition, epoch: owner.epoch, readings, hasBase },
    ...{ tailBytesMax, timers, log },
    make: (stopping) => makeSnapshot({ journalFile, partition }, stopping),
  })
}

type Store = Omit<JournaledStoreOptions, 'overtakes'>

async function take(home: string, store: Store): Promise<JournalWriter> {
  try {
    const writer = await openJournaledStore({
      ...store,
      overtakes: readJournalPermit(home, 'service'),
    })
    removeJournalPermit(home, 'service')
    return writer
  } catch (cause) {
    if (!(cause instanceof JournalHasSuccessor)) throw cause
    throw new Error(`${cause.message}; ${TAKE_BACK}`, { cause })
  }
}

/** @param store of a standby, which takes nothing that nobody has let it take */
async function wait(options: ServiceJournalOptions, store: Store): Promise<JournalWriter> {
  const { home, mode, log, timers, link, waits, followed: told, isEnding } = options
  const permitted = await takePermitted(home, store)
  if (permitted !== null) return permitted
  let progress: FollowProgress | null = null
  await waits(() => progress)
  const followed = (next: FollowProgress) => {
    progress = next
    told(next)
  }
  log.info({}, 'a standby follows the journal')
  const signing = openSigningCheck(home, 'service', mode, timers.now)
  const stops = options.watchWriteStops()
  try {
    // Asked before each taking; without an answer it goes no further.
    const hindrance = () => (isEnding() ? new Promise<never>(() => {}) : signing.hindrance())
    const storedAfter = link === null ? {} : { storedAfter: link.storedAfter }
    return await standBy(store, followed, { hindrance, writesStop: stops.why, ...storedAfter })
  } finally {
    stops.close()
    await signing.close()
  }
}

/** @returns null where there is no permit, or another has taken the journal since */
async function takePermitted(home: string, store: Store): Promise<JournalWriter | null> {
  const overtakes = readJournalPermit(home, 'service')
  if (overtakes === null) return null
  let writer: JournalWriter | null = null
  try {
    writer = await openJournaledStore({ ...store, overtakes, isStandby: true })
  } catch (error) {
    if (!(error instanceof JournalOvertaken || error instanceof JournalHasSuccessor)) throw error
  }
  removeJournalPermit(home, 'service')
  return writer
}

/** Of a standby's role, it would wait for the silence of the one before it, as others do elsewhere. */
function permitSuccessor(home: string, epoch: number, log: ServiceJournalOptions['log']): void {
  try {
    writeJournalPermit(home, 'service', epoch)
  } catch (err) {
    log.warn(
      { err },
      'the successor cannot be let take the journal at once: a standby may be first',
    )
  }
}
