import { sleep, type Timers } from '../../clock/timers.js'
import { askUntilAvailable } from '../../journal/ask-until-available.js'
import {
  type Appended,
  SnapshotIncomplete,
  SnapshotOvertaken,
  type Snapshots,
} from '../../journal/journal.js'
import type { Environment } from '../environment.js'
import type { Row } from '../rows.js'
import { carriedRows, positionAt } from './carried-rows.js'
import { createChunkWriter } from './chunk.js'

interface MakeSnapshotOptions {
  readonly environment: Pick<Environment, 'root' | 'spaces'>
  readonly snapshots: Snapshots
  readonly partition: number
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed' | 'random'>
  /** Stops before the next chunk; nothing is published then. */
  readonly stopping?: AbortSignal
  /** Defaults to the pace for a service at work. */
  readonly pace?: SnapshotPace
  /** Called after each chunk. */
  readonly put?: (soFar: { readonly bytes: number }) => void
}

export interface SnapshotPace {
  /** Size of a chunk's rows, which the last row may exceed. */
  readonly chunkBytes: number
  readonly bytesPerSecondMax: number
  /** The pause after each chunk, as a multiple of the time it took, including reading its rows. */
  readonly restTimes: number
}

export type SnapshotMade =
  | { readonly kind: 'made'; readonly seq: number; readonly rows: number; readonly bytes: number }
  /** Another snapshot was made in the meantime, and its maker removed these chunks. */
  | { readonly kind: 'overtaken' }
  /** @property epoch that of another, later leader */
  | { readonly kind: 'fenced'; readonly epoch: number }
  | { readonly kind: 'stopped' }

/**
 * A chunk is what an engine writes to its disk at once, and what is held in memory. The rate leaves
 * a core, the engine's disk and the network to commits, and is high enough that LMDB need not keep
 * a moment of a large store for hours.
 */
const PACE: SnapshotPace = {
  chunkBytes: 1024 * 1024,
  bytesPerSecondMax: 8 * 1024 * 1024,
  restTimes: 1,
}

/** The pace for a store that no service is using, so that nothing is delayed. */
export const UNPACED: SnapshotPace = {
  ...PACE,
  bytesPerSecondMax: Number.POSITIVE_INFINITY,
  restTimes: 0,
}

const ID_BYTES = 16
/** Approximate bytes of a row besides its record. */
const KEY_BYTES = 64
const MS_PER_SECOND = 1_000

/**
 * Writes the rows of a store, as of one moment, to its journal's engine and publishes them. Commits
 * continue: LMDB keeps that moment, and its file grows by what is overwritten in that time.
 *
 * The snapshot is written under the epoch in which the store last led the journal.
 * @throws DamagedRecord if a record is damaged; the entries before the snapshot have it whole
 * @throws JournalUnavailable if the engine does not answer for half a minute
 */
export async function makeSnapshot(options: MakeSnapshotOptions): Promise<SnapshotMade> {
  const { environment, stopping } = options
  // Frees the moment of a process that was killed while making a snapshot; LMDB would keep it for
  // good.
  environment.root.readerCheck()
  // The snapshot of this turn of the event loop may be older.
  environment.root.resetReadTxn()
  const moment = environment.root.useReadTransaction()
  try {
    const position = positionAt(environment, moment)
    if (position === null || position.seq === 0) throw new Error('the store has no journal entries')
    const { epoch, seq } = position
    const chunks = createChunkWriter(position)
    const put = putter(options, epoch)
    let rows = 0
    for (const cut of cutRows(carriedRows(environment, moment), options.pace ?? PACE)) {
      if (stopping?.aborted === true) return { kind: 'stopped' }
      rows += cut.length
      const answer = await put(chunks.rows(cut))
      if (answer.kind === 'fenced') return answer
    }
    if (stopping?.aborted === true) return { kind: 'stopped' }
    const answer = await put(chunks.manifest())
    if (answer.kind === 'fenced') return answer
    const published = await publish(options, { epoch, seq, ...put.soFar() })
    if (published.kind !== 'stored') return published
    return { kind: 'made', seq, rows, bytes: put.soFar().bytes }
  } finally {
    moment.done()
  }
}

/** Yields groups of rows of about this many bytes. */
function* cutRows(rows: Iterable<Row>, { chunkBytes }: SnapshotPace): Generator<Row[]> {
  let cut: Row[] = []
  let bytes = 0
  for (const row of rows) {
    cut.push(row)
    bytes += KEY_BYTES + (row[2]?.length ?? 0)
    if (bytes < chunkBytes) continue
    yield cut
    cut = []
    bytes = 0
  }
  if (cut.length > 0) yield cut
}

interface SoFar {
  readonly id: string
  readonly chunks: number
  readonly bytes: number
}

interface Putter {
  /** Pauses after each chunk as the pace requires. */
  (body: Uint8Array): Promise<Appended>
  soFar(): SoFar
}

function putter(options: MakeSnapshotOptions, epoch: number): Putter {
  const { snapshots, partition, timers, pace = PACE } = options
  const id = Buffer.from(timers.random.bytes(ID_BYTES)).toString('hex')
  let [chunks, bytes] = [0, 0]
  let beganMs = timers.elapsed()
  async function put(body: Uint8Array): Promise<Appended> {
    const at = { partition, epoch, id, index: chunks }
    const answer = await askUntilAvailable(options, () => snapshots.put(at, body))
    chunks++
    bytes += body.length
    options.put?.({ bytes })
    const tookMs = timers.elapsed() - beganMs
    const pacedMs = (body.length * MS_PER_SECOND) / pace.bytesPerSecondMax
    await sleep(timers, Math.max(pace.restTimes * tookMs, pacedMs - tookMs))
    beganMs = timers.elapsed()
    return answer
  }
  return Object.assign(put, { soFar: () => ({ id, chunks, bytes }) })
}

async function publish(
  options: MakeSnapshotOptions,
  { epoch, seq, id, chunks }: SoFar & { readonly epoch: number; readonly seq: number },
): Promise<Appended | { readonly kind: 'overtaken' }> {
  const { snapshots, partition, timers } = options
  const snapshot = { partition, epoch, seq, id, chunks, atMs: Math.round(timers.now()) }
  try {
    return await askUntilAvailable(options, () => snapshots.publish(snapshot))
  } catch (error) {
    const isOvertaken = error instanceof SnapshotIncomplete || error instanceof SnapshotOvertaken
    if (!isOvertaken) throw error
    return { kind: 'overtaken' }
  }
}
