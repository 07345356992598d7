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
 * The chunks of one snapshot as a virtual object of Restate. It decides nothing about the snapshot:
 * that is its partition's.
 *
 * State, by key:
 *   head       how many chunks there are, JSON; of one that was cleared it stays, some tens of bytes, so
 *              that no chunk that comes late is there for good
 *   chunk/<n>  as an entry of the partition
 *
 * As there, the head is written after all that it counts.
 */
interface SnapshotHead {
  readonly layout: number
  readonly count: number
  /** Of these together, while none was cleared. */
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
  // Nobody publishes what was swept, whether a chunk of it is there or not.
  if (head.isCleared) return { kind: 'stored' }
  if (index > head.count) {
    throw new JournalMisuse(`chunk ${index} of a snapshot: the next is ${head.count}`)
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

/** @returns null where it is not there */
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

/** The last ones first: those that are left are counted still. */
export async function clear(state: ObjectState, chunksMax: number): Promise<Cleared> {
  const head = await loadHead(state)
  const chunks = Math.min(head.count, chunksMax)
  const count = head.count - chunks
  const isMore = count > 0
  if (!isMore) {
    // Also what a putting wrote that was given up.
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
  throw new Error(`a snapshot is of layout ${head.layout}, and this build knows ${LAYOUT} alone`)
}

function save(state: ObjectState, head: SnapshotHead): void {
  state.set('head', json(head))
}

const chunkKey = (index: number) => `chunk/${index}`
