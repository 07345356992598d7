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

export interface MakeSnapshotOptions {
  readonly environment: Pick<Environment, 'root' | 'spaces'>
  readonly snapshots: Snapshots
  readonly partition: number
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed' | 'random'>
  /** Ends it before the next chunk: nothing is published. */
  readonly stopping?: AbortSignal
  /** Default: of one that is made beside a service at work. */
  readonly pace?: SnapshotPace
  /** Told after each chunk. */
  readonly put?: (soFar: { readonly bytes: number }) => void
}

export interface SnapshotPace {
  /** Of a chunk's rows, which the last of them may go beyond. */
  readonly chunkBytes: number
  readonly bytesPerSecondMax: number
  /** Rested after each chunk, as a multiple of what it took, its rows' reading included. */
  readonly restTimes: number
}

export type SnapshotMade =
  | { readonly kind: 'made'; readonly seq: number; readonly rows: number; readonly bytes: number }
  /** Its chunks were swept by whoever made another meanwhile, which is there. */
  | { readonly kind: 'overtaken' }
  /** @property epoch of the owner there is, who is another by now */
  | { readonly kind: 'fenced'; readonly epoch: number }
  | { readonly kind: 'stopped' }

/**
 * A chunk is what an engine writes to its disk at once, and what is held in memory of it. The rate
 * leaves a core, the engine's disk and the network to what commits, and is high enough that LMDB need
 * not keep a moment of a large store for hours.
 */
const PACE: SnapshotPace = {
  chunkBytes: 1024 * 1024,
  bytesPerSecondMax: 8 * 1024 * 1024,
  restTimes: 1,
}

/** Of a store that nobody is at work on, and waits for it. */
export const UNPACED: SnapshotPace = {
  ...PACE,
  bytesPerSecondMax: Number.POSITIVE_INFINITY,
  restTimes: 0,
}

const ID_BYTES = 16
/** About what a row has besides its record. */
const KEY_BYTES = 64
const MS_PER_SECOND = 1_000

/**
 * Puts the rows of a store, as of one moment, into its journal's engine and publishes them. Commits go
 * on meanwhile: LMDB keeps that moment, and its file grows by what is written over in that time.
 *
 * The store says whose it is: under the epoch with which it owned the journal last.
 * @throws DamagedRecord where a record is damaged: the entries before the snapshot have it whole
 * @throws JournalUnavailable where the engine does not answer for half a minute
 */
export async function makeSnapshot(options: MakeSnapshotOptions): Promise<SnapshotMade> {
  const { environment, stopping } = options
  // A process that was killed amid this would have LMDB keep its moment for good.
  environment.root.readerCheck()
  // What was read in this turn of the event loop may be of a moment ago.
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

/** Rows of about as many bytes. */
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
  /** Rests after each one as the pace asks. */
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
