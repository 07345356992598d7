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
import { JournalFenced } from '../journal/append-until-known.js'
import { startHeartbeatThread } from '../journal/heartbeat-thread.js'
import { type Journal, JournalOvertaken } from '../journal/journal.js'
import { openEngine } from '../journal/open-engine.js'
import { SETTLES_MS } from '../journal/watch-leader.js'
import type { JournalLeadership } from '../quorum-protocol/service-boot.js'
import type { QuorumReach } from '../service-custody/quorum-reach.js'
import { carriedFreezeOf } from '../store/carried-freeze.js'
import type { Environment } from '../store/environment.js'
import type { FollowProgress } from '../store/follow-leader.js'
import { failoversOf, failoversRow, noFailoversRow } from '../store/journal-move.js'
import { journalPositionOf } from '../store/journal-position.js'
import type { JournalWriter } from '../store/journal-writer.js'
import {
  type JournaledStoreOptions,
  JournalHasSuccessor,
  openJournaledStore,
} from '../store/journaled-store.js'
import { createReader } from '../store/reader.js'
import type { Row } from '../store/rows.js'
import { encodeRows } from '../store/rows-encoding.js'
import type { SnapshotMade } from '../store/snapshots/make-snapshot.js'
import { keepSnapshots, type SnapshotKeeper } from '../store/snapshots/snapshot-keeper.js'
import { standBy } from '../store/stand-by.js'
import { endWhenLeadershipIsLost } from './end-when-leadership-is-lost.js'
import { createJournalMetrics } from './journal-metrics.js'
import type { NodeLink } from './node-link.js'
import { stepDown } from './step-down.js'
import { watchHandoverRequests } from './watch-handover-requests.js'
import { type WatchedRedundancy, watchRedundancy } from './watch-redundancy.js'
import type { WriteStops } from './write-stops.js'

interface ServiceJournal extends JournalWriter {
  /** Null if the engine keeps no snapshots. */
  readonly snapshots: SnapshotKeeper | null
  readonly redundancy: Pick<WatchedRedundancy, 'reason'>
  /** The user side approves nothing of an earlier leader. */
  readonly leadership: JournalLeadership
  /**
   * Begins the checks that make this leader step down when it cannot sign or refuses writes and a
   * standby could do both.
   * @param writesStop returns what `ownWritesStop` returns
   */
  serves(writesStop: () => string | null): void
  /** Tells standbys that they need not wait for silence, because this process ends at once. */
  leave(): Promise<void>
  /**
   * Accepts no more commits. Standbys are told that they need not wait, unless a successor in this
   * home waits: then that one continues.
   */
  close(): Promise<void>
}

interface ServiceJournalOptions {
  readonly home: string
  readonly mode: 'dev' | 'live'
  /** The address by which other nodes know this one once it leads the journal. */
  readonly node: string
  /** The value of COUNTERSIGN_JOURNAL_FILE; null without a journal. */
  readonly file: string | null
  readonly role: 'owner' | 'standby'
  /** The link on which standbys report that they are ready; null if the service has none. */
  readonly link: Pick<NodeLink, 'anyWaits' | 'isFollowed' | 'stored' | 'storedAfter'> | null
  /** Tells which domains answer. */
  readonly reach: () => QuorumReach
  /** The next snapshot is made once the entries after the last one are larger than this. */
  readonly tailBytesMax: number
  /** Makes a snapshot in a separate thread. */
  readonly makeSnapshot: (
    start: { readonly journalFile: string; readonly partition: number },
    stopping: AbortSignal,
  ) => Promise<SnapshotMade>
  /** Whether another service of this home waits for the end of this one. */
  readonly hasSuccessor: () => boolean
  readonly environment: Environment
  readonly timers: Timers
  /** Receives metrics only if there is a journal. */
  readonly registry: Registry
  /** Called when a standby begins to wait; reports why it would refuse writes as the leader. */
  readonly watchWriteStops: () => WriteStops
  /** Called when a standby begins to wait, with a function that returns its progress. */
  readonly waits: (progress: () => FollowProgress | null) => Promise<void>
  /** Called after each poll of the leader while the standby waits. */
  readonly followed: (progress: FollowProgress) => void
  /** A standby that was told to end does not take over, because it would be gone a moment later. */
  readonly isEnding: () => boolean
  readonly log: {
    fatal(context: object, message: string): void
    error(context: object, message: string): void
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
}

const TAKES_NO_MORE = 'the journal accepts no more entries from this service'

const LEFT_OUT =
  'This store belongs to a journal, but COUNTERSIGN_JOURNAL_FILE is not set. Starting without it would lose data and let a standby run in parallel. Set the variable, or detach the store permanently with `countersign cluster leave`.'

const TAKE_BACK =
  'to take it back, run `countersign cluster take` and restart this service; the other one then ends'

/**
 * Acquires the journal for this home and applies its entries to the store. A standby follows the
 * journal and acquires it once its leader is gone.
 *
 * A service that lost its leadership ends. With the role `owner`, so does every restart on the same
 * store, because the journal has a later leader than the store knows; a standby may restart.
 * @returns null if no journal is configured
 * @throws Error if another service took over this home's journal, or if the store belongs to a
 * journal and none is configured; otherwise as `openJournaledStore`
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
  const onLost = (err: unknown, message = TAKES_NO_MORE): never => {
    log.fatal({ err }, message)
    process.exit(1)
  }
  const heartbeats = startHeartbeatThread({
    ...{ settings, partition: cell.number },
    ended: (err) => onLost(err, 'this service cannot send heartbeats, so it ends'),
  })
  const store = {
    ...{ environment, timers, log, journal, cell, appended: metrics.appended },
    ...(options.link === null ? {} : { stored: options.link.stored }),
    node: options.node,
    acquired: ({ epoch, seq }) => heartbeats.begin(epoch, () => seq),
    fatal(err) {
      if (err instanceof JournalFenced) onLost(err)
      log.fatal({ err }, TAKES_NO_MORE)
      // This node writes nothing more, as with a full disk, so no standby need wait for its
      // silence.
      void heartbeats.leave().finally(() => process.exit(1))
    },
  } satisfies Omit<JournaledStoreOptions, 'overtakes'>
  const writer = await (role === 'standby' ? wait(options, store) : acquire(home, store))
  if (role === 'standby') commit(writer, failoversRow(failoversOf(environment) + 1))
  heartbeats.begin(writer.leadership.epoch, () => writer.readings.stored)
  options.link?.stored(writer.leadership.epoch, writer.readings.stored)
  // A freeze that the operator set on another node must hold here before anything can be signed.
  const { freezes } = createReader(environment).fresh()
  bringFreeze(home, 'service', carriedFreezeOf(freezes), timers.now(), log)
  const snapshots = keepSnapshotsOf(options, journal, writer, file)
  metrics.show(writer, snapshots)
  const moves = watchHandoverRequests({
    ...{ home, role, writer, log, node: options.node, link: options.link },
    end: () => process.kill(process.pid, 'SIGTERM'),
  })
  const redundancy = watchRedundancy({ journal, timers, log })
  const watches: (() => void)[] = [redundancy.close]
  return {
    ...writer,
    snapshots,
    redundancy,
    leave: heartbeats.leave,
    serves(writesStop) {
      const { reach, link } = options
      const isFollowed = () => link?.isFollowed() === true
      watches.push(
        stepDown({ reach, writesStop, isFollowed, leave: moves.leave, timers, log }),
        endWhenLeadershipIsLost({ journal, leadership: writer.leadership, reach, onLost, timers }),
        oncePassed(timers, SETTLES_MS, () => {
          if (failoversOf(environment) > 0) commit(writer, noFailoversRow())
        }),
      )
    },
    async close() {
      for (const end of watches) end()
      moves.stop()
      const ended = snapshots?.close()
      if (options.hasSuccessor()) {
        permitSuccessor(home, writer.leadership.epoch, log)
        await heartbeats.handOver()
      } else await heartbeats.leave()
      await ended
      await journal.close()
    },
  }
}

/** Nothing waits for this commit: later commits are stored after it. */
function commit(writer: Pick<JournalWriter, 'commit'>, row: Row): void {
  void writer.commit(encodeRows([row]))
}

/** @returns a function that cancels the task */
function oncePassed(timers: Timers, ms: number, task: () => void): () => void {
  const alarm = timers.at(timers.now() + ms, task)
  return () => alarm.cancel()
}

function keepSnapshotsOf(
  { environment, timers, log, tailBytesMax, makeSnapshot }: ServiceJournalOptions,
  journal: Journal,
  { leadership, readings }: JournalWriter,
  journalFile: string,
): SnapshotKeeper | null {
  const { snapshots } = journal
  if (snapshots === undefined) return null
  const hasBase = journalPositionOf(environment)?.hasBase ?? false
  const partition = leadership.cell.number
  return keepSnapshots({
    ...{ journal, snapshots, partition, epoch: leadership.epoch, readings, hasBase },
    ...{ tailBytesMax, timers, log },
    make: (stopping) => makeSnapshot({ journalFile, partition }, stopping),
  })
}

type Store = Omit<JournaledStoreOptions, 'overtakes'>

async function acquire(home: string, store: Store): Promise<JournalWriter> {
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

/** @param store of a standby, which takes over only if that is permitted */
async function wait(options: ServiceJournalOptions, store: Store): Promise<JournalWriter> {
  const { home, mode, log, timers, link, waits, followed: told, isEnding } = options
  const permitted = await acquireIfPermitted(home, store)
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
    // Called before each attempt to take over. A standby that is ending never answers, and so goes
    // no further.
    const hindrance = () => (isEnding() ? new Promise<never>(() => {}) : signing.hindrance())
    const storedAfter = link === null ? {} : { storedAfter: link.storedAfter }
    return await standBy(store, followed, { hindrance, writesStop: stops.why, ...storedAfter })
  } finally {
    stops.close()
    await signing.close()
  }
}

/** @returns null without a permit, or if another node has acquired the journal since */
async function acquireIfPermitted(home: string, store: Store): Promise<JournalWriter | null> {
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

/**
 * Without a permit the successor, in the role of a standby, would wait for silence as standbys on
 * other nodes do.
 */
function permitSuccessor(home: string, epoch: number, log: ServiceJournalOptions['log']): void {
  try {
    writeJournalPermit(home, 'service', epoch)
  } catch (err) {
    log.warn(
      { err },
      'the permit for the successor could not be written, so a standby may acquire the journal first',
    )
  }
}
