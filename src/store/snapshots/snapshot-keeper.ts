import { rest } from '../../clock/rest.js'
import type { Timers } from '../../clock/timers.js'
import {
  type Journal,
  type Snapshot,
  type Snapshots,
  TAIL_COUNTED_MAX,
} from '../../journal/journal.js'
import type { JournalReadings } from '../journal-writer.js'
import type { SnapshotMade } from './make-snapshot.js'
import { marginOf, tidy } from './tidy.js'

/**
 * Makes a snapshot whenever the entries after the last one have become many, and trims the journal.
 * Runs in the leader beside its journal writer.
 */
export interface SnapshotKeeper {
  readonly readings: SnapshotReadings
  /** Whether entries pile up because no snapshot could be made. */
  isBehind(): boolean
  /** Ends work under way. */
  close(): Promise<void>
}

interface SnapshotReadings {
  /** Null without a snapshot, or before the first poll. */
  readonly newest: Snapshot | null
  /** Bytes of the entries after it; an estimate if there are very many. */
  readonly tailBytes: number
  /** Snapshots that could not be made since the start. */
  readonly failures: number
}

interface SnapshotKeeperOptions {
  readonly journal: Pick<Journal, 'readHead' | 'trim'>
  readonly snapshots: Snapshots
  readonly partition: number
  readonly epoch: number
  readonly readings: Pick<JournalReadings, 'stored' | 'appendedBytes'>
  /** The store existed before its journal, which can restore it only with a snapshot. */
  readonly hasBase: boolean
  readonly tailBytesMax: number
  readonly make: (stopping: AbortSignal) => Promise<SnapshotMade>
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: {
    error(context: object, message: string): void
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /** Defaults to a number in proportion to the tail's bytes. */
  readonly marginEntries?: number
}

/** Pause between two checks of the tail's size, which read only this process's memory. */
const POLL_MS = 1_000

/**
 * Pause after a failure, doubled each time up to the maximum, because making a snapshot reads the
 * whole store.
 */
const AGAIN_MS = 60_000
const AGAIN_MS_MAX = 60 * 60_000

/**
 * The tail's size, relative to the snapshot's bytes, at which the next snapshot is made. Snapshots
 * thus write at most twice as many bytes as entries do, however large a store is.
 */
const TAIL_OF_SNAPSHOT = 0.5

/** A tail this many times the usual means that something prevents snapshots. */
const BEHIND_TIMES = 4

export function keepSnapshots(options: SnapshotKeeperOptions): SnapshotKeeper {
  const { snapshots, partition, readings, timers, log } = options
  const marginEntries = options.marginEntries ?? marginOf(options.tailBytesMax)
  const stopping = new AbortController()
  let newest: Snapshot | null = null
  let isPolled = false
  /** Bytes of the tail at the last poll, and what this process had appended by then. */
  let [polledBytes, polledAppended] = [0, 0]
  let failures = 0

  const tailBytes = () => polledBytes + readings.appendedBytes - polledAppended
  const bytesMax = () => Math.max(options.tailBytesMax, TAIL_OF_SNAPSHOT * (newest?.bytes ?? 0))

  function isDue(): boolean {
    if (readings.stored === 0) return false
    if (newest === null && options.hasBase) return true
    return tailBytes() > bytesMax()
  }

  async function poll(): Promise<void> {
    const { appendedBytes, stored } = readings
    const head = await snapshots.readHead(partition)
    newest = head.newest
    // Entries beyond the counted ones are assumed to have the same size.
    const times = Math.max(1, (stored - (newest?.seq ?? 0)) / TAIL_COUNTED_MAX)
    polledBytes = Math.round(head.tailBytes * times)
    polledAppended = appendedBytes
    isPolled = true
  }

  /** Removes, at the start, what an interrupted attempt left behind. */
  async function tidyUp(): Promise<void> {
    await tidy({ ...options, marginEntries, stopping: stopping.signal })
    await poll()
  }

  /** @returns whether another snapshot may be made */
  async function make(): Promise<boolean> {
    const made = await options.make(stopping.signal)
    if (made.kind === 'made') log.info({ ...made }, 'the journal has a new snapshot of the store')
    if (made.kind === 'overtaken') log.warn({}, 'another process made a snapshot at the same time')
    // The writer learns of it by its next append, and the process ends.
    if (made.kind === 'fenced') log.warn({ ...made }, 'another service leads the journal')
    if (made.kind === 'made' || made.kind === 'overtaken') await tidyUp()
    return made.kind !== 'fenced'
  }

  async function run(): Promise<void> {
    let waitMs = 0
    let isTidy = false
    while (!stopping.signal.aborted) {
      await rest(timers, waitMs, stopping.signal)
      if (stopping.signal.aborted) return
      try {
        if (!isTidy) await tidyUp()
        isTidy = true
        if (isDue() && !(await make())) return
        waitMs = POLL_MS
      } catch (err) {
        if (stopping.signal.aborted) return
        failures++
        // The engine still has the chunks of the attempt that failed.
        isTidy = false
        log.error(
          { err },
          'no snapshot of the store could be made, so its journal grows until one is',
        )
        waitMs = Math.min(AGAIN_MS_MAX, Math.max(AGAIN_MS, 2 * waitMs))
      }
    }
  }

  const running = run()
  return {
    readings: {
      get newest() {
        return newest
      },
      get tailBytes() {
        return tailBytes()
      },
      get failures() {
        return failures
      },
    },
    isBehind: () => isPolled && tailBytes() > BEHIND_TIMES * bytesMax(),
    async close() {
      stopping.abort()
      await running
    },
  }
}
