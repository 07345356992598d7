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
 * The one writer of a store's journal, for all threads of its process: appends what they commit, in
 * the order in which it came, then applies it to LMDB. What comes during an append is the next.
 *
 * An append whose outcome is unknown is asked for again until it is known: nothing of it is called
 * undone, and nothing after it is tried. Meanwhile `refusal` keeps new writes out.
 */
export interface JournalWriter {
  /**
   * @param rows of `encodeRows`
   * @returns once the journal and LMDB have them; never, where the writer ended
   */
  commit(rows: Uint8Array): Promise<void>
  /** Why nothing that writes may begin, or null. */
  refusal(): Fault | null
  /** Which journal it writes, and as which of its owners. */
  readonly owner: { readonly journal: string; readonly epoch: number; readonly cell: Cell }
  readonly readings: JournalReadings
}

export interface JournalReadings {
  /** Seq of the last entry that the journal and the store have. */
  readonly stored: number
  /** Commits that wait to be stored, those of an append under way included. */
  readonly waiting: number
  /** Of the bodies that this writer has appended. */
  readonly appendedBytes: number
}

export interface JournalWriterOptions extends AppendContext {
  readonly environment: Environment
  readonly partition: number
  /** Whose commits these are. Default: all users'. */
  readonly cell?: Cell
  readonly epoch: number
  /** Of the last entry there is. */
  readonly seq: number
  /** Its name: of none, `NO_ENTRY`. */
  readonly last: string
  readonly position: JournalPosition
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
  /** Fenced, or what was stored cannot be applied: the process has to end. */
  readonly fatal: (error: unknown) => void
  /** Told of each append, from its first try until it was stored. */
  readonly appended?: (elapsedMs: number) => void
  /** Told of the last entry that the journal and the store have. */
  readonly stored?: (epoch: number, seq: number) => void
  /** Of what an entry holds at most: how long commits are cut. */
  readonly contentBytesMax?: number
}

/** An append that takes longer holds up all that commits: callers are better off elsewhere. */
const SLOW_MS = 2_000

const CONTENT_BYTES_MAX = BODY_BYTES_MAX - ENTRY_HEAD_BYTES

const AWAY =
  'The journal that commits are stored in does not answer, so writes are stopped; reads go on. Of this request nothing was done; of an earlier one with its Idempotency-Key nothing is said.'

export function createJournalWriter(options: JournalWriterOptions): JournalWriter {
  const { environment, partition, cell = ONE_CELL, epoch, timers } = options
  const contentBytesMax = options.contentBytesMax ?? CONTENT_BYTES_MAX
  let { seq, last, position } = options
  let waiting: { readonly rows: Uint8Array; readonly done: () => void }[] = []
  let storing = 0
  let appendedBytes = 0
  let isRunning = false
  let isOver = false
  /** By `elapsed`, of the append that is under way. */
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
    owner: { journal: position.storeId, epoch, cell },
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
