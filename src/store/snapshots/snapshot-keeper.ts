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
 * Has a snapshot made whenever the entries after the last one have become many, and trims. For the
 * owner of a journal, beside its writer.
 */
export interface SnapshotKeeper {
  readonly readings: SnapshotReadings
  /** Whether entries pile up, since no snapshot could be made. */
  isBehind(): boolean
  /** Ends what is under way. */
  close(): Promise<void>
}

export interface SnapshotReadings {
  /** Null while there is none, or it was not looked at yet. */
  readonly newest: Snapshot | null
  /** Of the entries after it; of very many it is an estimate. */
  readonly tailBytes: number
  /** Makings that failed, since the start. */
  readonly failures: number
}

export interface SnapshotKeeperOptions {
  readonly journal: Pick<Journal, 'look' | 'trim'>
  readonly snapshots: Snapshots
  readonly partition: number
  readonly epoch: number
  readonly readings: Pick<JournalReadings, 'stored' | 'appendedBytes'>
  /** The store was there before its journal, which brings it back from nothing only with a snapshot. */
  readonly hasBase: boolean
  readonly tailBytesMax: number
  readonly make: (stopping: AbortSignal) => Promise<SnapshotMade>
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: {
    error(context: object, message: string): void
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
  /** Default: in proportion to the tail's bytes. */
  readonly marginEntries?: number
}

/** Between two looks at how much there is to follow, in this process's memory. */
const LOOK_MS = 1_000

/** After one that failed, doubled each time up to the longest: a making reads the whole store. */
const AGAIN_MS = 60_000
const AGAIN_MS_MAX = 60 * 60_000

/**
 * Of a snapshot's bytes, what the entries after it have at least before the next is made: so that all
 * that is written for snapshots is twice what is written for entries at most, however large a store is.
 */
const TAIL_OF_SNAPSHOT = 0.5

/** Tails of this many times the usual: something keeps snapshots from being made. */
const BEHIND_TIMES = 4

export function keepSnapshots(options: SnapshotKeeperOptions): SnapshotKeeper {
  const { snapshots, partition, readings, timers, log } = options
  const marginEntries = options.marginEntries ?? marginOf(options.tailBytesMax)
  const stopping = new AbortController()
  let newest: Snapshot | null = null
  let isLooked = false
  /** Of the entries after it, when it was looked for; and what this process had appended by then. */
  let [lookedBytes, lookedAppended] = [0, 0]
  let failures = 0

  const tailBytes = () => lookedBytes + readings.appendedBytes - lookedAppended
  const bytesMax = () => Math.max(options.tailBytesMax, TAIL_OF_SNAPSHOT * (newest?.bytes ?? 0))

  function isDue(): boolean {
    if (readings.stored === 0) return false
    if (newest === null && options.hasBase) return true
    return tailBytes() > bytesMax()
  }

  async function look(): Promise<void> {
    const { appendedBytes, stored } = readings
    const head = await snapshots.look(partition)
    newest = head.newest
    // Those beyond the ones that are counted are taken to be like them.
    const times = Math.max(1, (stored - (newest?.seq ?? 0)) / TAIL_COUNTED_MAX)
    lookedBytes = Math.round(head.tailBytes * times)
    lookedAppended = appendedBytes
    isLooked = true
  }

  /** What a making that broke off has left is tidied up at the start. */
  async function tidyUp(): Promise<void> {
    await tidy({ ...options, marginEntries, stopping: stopping.signal })
    await look()
  }

  /** @returns whether there may be another */
  async function make(): Promise<boolean> {
    const made = await options.make(stopping.signal)
    if (made.kind === 'made') log.info({ ...made }, 'a snapshot of the store is in the journal')
    if (made.kind === 'overtaken') log.warn({}, 'another snapshot was made meanwhile')
    // The writer hears of it by its next append, and the process ends.
    if (made.kind === 'fenced') log.warn({ ...made }, 'another service owns the journal')
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
        waitMs = LOOK_MS
      } catch (err) {
        if (stopping.signal.aborted) return
        failures++
        // What was made before it broke off is in the engine still.
        isTidy = false
        log.error({ err }, 'no snapshot of the store could be made: its journal grows meanwhile')
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
    isBehind: () => isLooked && tailBytes() > BEHIND_TIMES * bytesMax(),
    async close() {
      stopping.abort()
      await running
    },
  }
}
