import { type Appended, type ChunkPlace, JournalMisuse } from './journal.js'
import { checkChunk, judgePut } from './judge-snapshot.js'
import type { Counted } from './restate-partition-snapshots.js'
import {
  aboutOf,
  clearBody,
  isSameBody,
  json,
  type ObjectState,
  parse,
  piecesAt,
  placesFrom,
  setBody,
} from './restate-state.js'

/**
 * The chunks of one snapshot as a virtual object of Restate. Its partition decides about the
 * snapshot.
 *
 * State, by key:
 *   head       the number of chunks, JSON; it stays, some tens of bytes, after the snapshot was cleared,
 *              so that a late chunk is not stored for good
 *   chunk/<n>  like an entry of the partition
 *
 * As there, the head is written after everything that it counts.
 */
interface SnapshotHead {
  readonly layout: number
  readonly count: number
  /** Bytes of all chunks, before any was cleared. */
  readonly bytes: number
  readonly isCleared: boolean
}

const LAYOUT = 1
const NOTHING: SnapshotHead = { layout: LAYOUT, count: 0, bytes: 0, isCleared: false }

/** @throws JournalMisuse */
export async function put(state: ObjectState, at: ChunkPlace, body: Uint8Array): Promise<Appended> {
  checkChunk(at, body)
  const head = await loadHead(state)
  const { epoch, index } = at
  // A swept snapshot is never published, whether or not its chunks are stored.
  if (head.isCleared) return { kind: 'stored' }
  if (index > head.count) {
    throw new JournalMisuse(`chunk ${index} of a snapshot: the next chunk is ${head.count}`)
  }
  if (index < head.count) {
    const [value = null] = await state.get([chunkKey(index)])
    const about = value === null ? null : aboutOf(value, 'counted')
    const present =
      about === null ? null : { epoch: about.epoch, sameBody: isSameBody(about, body) }
    return judgePut(at, epoch, present)
  }
  setBody(state, chunkKey(index), epoch, body, head.bytes)
  save(state, { ...head, count: index + 1, bytes: head.bytes + body.length })
  return { kind: 'stored' }
}

export async function counted(state: ObjectState, chunks: number): Promise<Counted> {
  const { count, bytes, isCleared } = await loadHead(state)
  if (isCleared) return { there: 0, bytes: 0 }
  if (chunks >= count) return { there: count, bytes }
  const [last = null] = await state.get([chunkKey(chunks - 1)])
  return { there: chunks, bytes: last === null ? 0 : (aboutOf(last, 'counted').bytesUpTo ?? 0) }
}

/** @returns null if the chunk does not exist */
export async function chunk(
  state: ObjectState,
  index: number,
): Promise<readonly Uint8Array[] | null> {
  const [found = null, value = null] = await state.get(['head', chunkKey(index)])
  const { count } = headOf(found)
  return value === null || index >= count
    ? null
    : piecesAt(state, chunkKey(index), value, 'counted')
}

export interface Cleared {
  readonly chunks: number
  readonly isMore: boolean
}

/** Clears the last chunks first, so that the remaining ones are still counted. */
export async function clear(state: ObjectState, chunksMax: number): Promise<Cleared> {
  const head = await loadHead(state)
  const chunks = Math.min(head.count, chunksMax)
  const count = head.count - chunks
  const isMore = count > 0
  if (!isMore) {
    // This also clears what an interrupted `put` wrote.
    state.clearAll()
    save(state, { ...head, count, isCleared: true })
    return { chunks, isMore }
  }
  const indexes = placesFrom(count, head.count - 1)
  const values = await state.get(indexes.map(chunkKey))
  save(state, { ...head, count, isCleared: true })
  for (const [at, index] of indexes.entries()) {
    const value = values[at] ?? null
    clearBody(state, chunkKey(index), value === null ? null : aboutOf(value, 'counted').bytes)
  }
  return { chunks, isMore }
}

async function loadHead(state: ObjectState): Promise<SnapshotHead> {
  const [found = null] = await state.get(['head'])
  return headOf(found)
}

function headOf(found: Uint8Array | null): SnapshotHead {
  if (found === null) return NOTHING
  const head = parse(found) as SnapshotHead
  if (head.layout === LAYOUT) return head
  throw new Error(`a snapshot has layout ${head.layout}, but this build knows only ${LAYOUT}`)
}

function save(state: ObjectState, head: SnapshotHead): void {
  state.set('head', json(head))
}

const chunkKey = (index: number) => `chunk/${index}`
