import {
  type Appended,
  type ChunkPlace,
  JournalMisuse,
  type NewSnapshot,
  type Snapshot,
  SnapshotIncomplete,
  SnapshotOvertaken,
} from './journal.js'
import { judgePublish, judgePut } from './judge-snapshot.js'
import { headOf, tailBytesAfter } from './restate-object.js'
import { json, type ObjectState, parse } from './restate-state.js'

/**
 * What a partition's object stores about its snapshots: which one is visible, and which others may
 * have chunks. The chunks of each snapshot are in a separate object (restate-snapshot-object.ts),
 * so that no append waits for one. The partition knows every snapshot with chunks: it is told
 * before the first chunk is stored, and forgets a snapshot after the last one is cleared.
 *
 * A snapshot is condemned here before any of its chunks is cleared, and a condemned one is never
 * published. So the chunks that were counted still exist when it is published.
 */
interface Known {
  readonly newest: Snapshot | null
  readonly others: readonly Other[]
}

interface Other {
  readonly id: string
  readonly epoch: number
  readonly isCondemned: boolean
}

const NONE: Known = { newest: null, others: [] }

/** Each interrupted snapshot leaves one, until a finished one has it swept. */
const OTHERS_MAX = 256

export interface KnownAnswer extends Known {
  /** Null if entries are being trimmed; the caller tries again. */
  readonly tailBytes: number | null
}

export async function known(state: ObjectState): Promise<KnownAnswer> {
  const [head, { newest, others }] = await load(state)
  return { newest, others, tailBytes: await tailBytesAfter(state, head, newest?.seq ?? 0) }
}

/**
 * Called before each chunk is stored, so that the partition knows the snapshot and checks who
 * leads.
 * @throws JournalMisuse
 */
export async function begin(state: ObjectState, at: ChunkPlace): Promise<Appended> {
  const [head, { newest, others }] = await load(state)
  const { epoch, id } = at
  if (epoch !== head.epoch) return judgePut(at, head.epoch, null)
  const isKnown = newest?.id === id || others.some((other) => other.id === id)
  if (isKnown) return { kind: 'stored' }
  if (others.length >= OTHERS_MAX) {
    throw new JournalMisuse(`${OTHERS_MAX} unfinished snapshots have not been swept`)
  }
  save(state, { newest, others: [...others, { id, epoch, isCondemned: false }] })
  return { kind: 'stored' }
}

/** Counts of a snapshot's chunks, from the object that has them. */
export interface Counted {
  /** The number of its chunks with an index below the snapshot's count. */
  readonly there: number
  /** Bytes of these chunks. */
  readonly bytes: number
}

export type PublishedOrNot =
  | Appended
  | { readonly kind: 'incomplete'; readonly there: number }
  | { readonly kind: 'overtaken'; readonly newest: number }

/** @throws JournalMisuse */
export async function publish(
  state: ObjectState,
  snapshot: NewSnapshot,
  counted: Counted,
): Promise<PublishedOrNot> {
  const [head, { newest, others }] = await load(state)
  const { id, epoch, seq, chunks, atMs } = snapshot
  const isSwept = !others.some((other) => other.id === id && !other.isCondemned)
  const there = isSwept ? 0 : counted.there
  try {
    const judged = judgePublish(snapshot, { head, newest, chunks: there })
    if (judged !== null) return judged
  } catch (error) {
    if (error instanceof SnapshotIncomplete) return { kind: 'incomplete', there }
    if (!(error instanceof SnapshotOvertaken)) throw error
    return { kind: 'overtaken', newest: newest?.seq ?? 0 }
  }
  const rest = others.filter((other) => other.id !== id)
  const before = newest === null ? [] : [{ id: newest.id, epoch: newest.epoch, isCondemned: false }]
  save(state, {
    newest: { epoch, id, seq, chunks, atMs, bytes: counted.bytes },
    others: [...before, ...rest],
  })
  return { kind: 'stored' }
}

/** @returns whether its chunks may be cleared */
export async function condemn(state: ObjectState, epoch: number, id: string): Promise<boolean> {
  const [, { newest, others }] = await load(state)
  const found = others.find((other) => other.id === id)
  if (found === undefined || !isOver(found, epoch, newest)) return false
  if (found.isCondemned) return true
  const rest = others.map((other) => (other === found ? { ...found, isCondemned: true } : other))
  save(state, { newest, others: rest })
  return true
}

/** Whether a leader with that epoch may sweep it. */
export function isOver(other: Other, epoch: number, newest: Snapshot | null): boolean {
  if (other.isCondemned) return true
  return other.epoch < epoch || (other.epoch === epoch && newest !== null)
}

/** Forgets a condemned snapshot whose chunks are all cleared. */
export async function forget(state: ObjectState, id: string): Promise<void> {
  const [, { newest, others }] = await load(state)
  const rest = others.filter((other) => other.id !== id || !other.isCondemned)
  if (rest.length < others.length) save(state, { newest, others: rest })
}

async function load(state: ObjectState) {
  const [head = null, found = null] = await state.get(['head', 'snapshots'])
  return [headOf(head), found === null ? NONE : (parse(found) as Known)] as const
}

function save(state: ObjectState, next: Known): void {
  state.set('snapshots', json(next))
}
