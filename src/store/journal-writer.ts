import type { Timers } from '../clock/timers.js'
import { type Cell, ONE_CELL } from '../domain/cells.js'
import { type Fault, fault } from '../errors/fault.js'
import { type AppendContext, appendUntilKnown } from '../journal/append-until-known.js'
import { BODY_BYTES_MAX } from '../journal/journal.js'
import { applyRows } from './apply-rows.js'
import type { Environment } from './environment.js'
import { ENTRY_HEAD_BYTES, encodeEntry, joinCommits, nameOfEntry } from './journal-entry.js'
import { type JournalPosition, positionRow } from './journal-position.js'
import { decodeRows } from './rows-encoding.js'

/**
 * The one writer of a store's journal for all threads of its process. It appends commits in the
 * order in which they came, then applies them to LMDB. Commits that come during an append share the
 * next entry.
 *
 * An append whose outcome is unknown is repeated until it is known: nothing in it is reported as
 * undone, and nothing after it is tried. Until then `refusal` rejects new writes.
 */
export interface JournalWriter {
  /**
   * @param rows the result of `encodeRows`
   * @returns once the journal and LMDB have the rows; never if the writer ended
   */
  commit(rows: Uint8Array): Promise<void>
  /** Why no write may begin, or null. */
  refusal(): Fault | null
  /** Which journal it writes, and in which epoch. */
  readonly leadership: { readonly journal: string; readonly epoch: number; readonly cell: Cell }
  readonly readings: JournalReadings
}

export interface JournalReadings {
  /** Seq of the last entry that both the journal and the store have. */
  readonly stored: number
  /** Commits that wait to be stored, including those of an append under way. */
  readonly waiting: number
  /** Bytes of the entries that this writer appended. */
  readonly appendedBytes: number
}

interface JournalWriterOptions extends AppendContext {
  readonly environment: Environment
  readonly partition: number
  /** The cell whose commits these are. Defaults to all users. */
  readonly cell?: Cell
  readonly epoch: number
  /** Seq of the journal's last entry. */
  readonly seq: number
  /** Name of that entry; `NO_ENTRY` before the first. */
  readonly last: string
  readonly position: JournalPosition
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  /**
   * Called when this writer lost its leadership or stored rows cannot be applied; the process has
   * to end.
   */
  readonly fatal: (error: unknown) => void
  /** Called after each append, with the time from its first attempt until it was stored. */
  readonly appended?: (elapsedMs: number) => void
  /** Called with the last entry that both the journal and the store have. */
  readonly stored?: (epoch: number, seq: number) => void
  /** The most bytes of content in an entry; longer commits are cut. */
  readonly contentBytesMax?: number
}

/** An append that takes longer delays every commit, so callers are told to retry later. */
const SLOW_MS = 2_000

const CONTENT_BYTES_MAX = BODY_BYTES_MAX - ENTRY_HEAD_BYTES

const AWAY =
  'The journal that stores commits does not answer, so writes are stopped; reads continue. Nothing in this request was done. An earlier one with the same Idempotency-Key may have been.'

export function createJournalWriter(options: JournalWriterOptions): JournalWriter {
  const { environment, partition, cell = ONE_CELL, epoch, timers } = options
  const contentBytesMax = options.contentBytesMax ?? CONTENT_BYTES_MAX
  let { seq, last, position } = options
  let waiting: { readonly rows: Uint8Array; readonly done: () => void }[] = []
  let storing = 0
  let appendedBytes = 0
  let isRunning = false
  let isOver = false
  /** When the append under way began, by `elapsed`. */
  let beganMs: number | null = null

  async function append(body: Uint8Array): Promise<void> {
    seq++
    beganMs = timers.elapsed()
    await appendUntilKnown(options, { partition, epoch, seq }, body)
    last = nameOfEntry(body)
    appendedBytes += body.length
    options.appended?.(timers.elapsed() - beganMs)
    beganMs = null
  }

  async function store(commits: readonly Uint8Array[]): Promise<void> {
    const content = joinCommits(commits)
    const parts = Math.ceil(content.length / contentBytesMax)
    const { storeId } = position
    for (let part = 0; part < parts; part++) {
      const cut = content.subarray(part * contentBytesMax, (part + 1) * contentBytesMax)
      const isLast = part === parts - 1
      const entry = { storeId, isBase: false, part, isLast, previous: last, content: cut }
      await append(encodeEntry(entry))
    }
    const next = { ...position, seq, last }
    const rows = commits.flatMap((commit) => decodeRows(commit))
    await applyRows(environment, [...rows, positionRow(next)])
    position = next
    options.stored?.(epoch, seq)
  }

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const taken = waiting
      waiting = []
      storing = taken.length
      await store(taken.map(({ rows }) => rows))
      storing = 0
      for (const { done } of taken) done()
    }
    isRunning = false
  }

  return {
    leadership: { journal: position.storeId, epoch, cell },
    readings: {
      get stored() {
        return position.seq
      },
      get waiting() {
        return waiting.length + storing
      },
      get appendedBytes() {
        return appendedBytes
      },
    },
    commit(rows) {
      return new Promise((done) => {
        if (isOver) return
        waiting.push({ rows, done })
        if (isRunning) return
        run().catch((error: unknown) => {
          isOver = true
          options.fatal(error)
        })
      })
    },
    refusal() {
      const isSlow = beganMs !== null && timers.elapsed() - beganMs > SLOW_MS
      return isOver || isSlow ? fault('WRITES_STOPPED', { reason: 'journal' }, AWAY) : null
    },
  }
}
