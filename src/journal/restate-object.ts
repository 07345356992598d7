import {
  type Appended,
  type Beat,
  type BeatState,
  CLAIMS_KEPT,
  checkBody,
  checkClaim,
  type JournalHead,
  type Place,
  TAIL_COUNTED_MAX,
} from './journal.js'
import { judgeAppend, type Present } from './judge-append.js'
import {
  aboutOf,
  type Counting,
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
 * A partition of the journal as a virtual object of Restate: what its handlers do with its state.
 * Restate runs one at a time of those that write, each to its end, on whichever node leads: nothing
 * here waits for anything but the state, and all of it is the same when it is run again.
 *
 * State, by key:
 *   head         where the partition is, JSON
 *   beat         what its owner last said, JSON
 *   claim/<c>    epoch of a taking; taking/<epoch> its claim, by which the oldest is forgotten
 *   entry/<seq>  epoch, length and SHA-256 of a body, the length of all up to it, and its first piece;
 *                entry/<seq>/<n> further ones
 *   snapshots    of restate-partition-snapshots.ts
 *
 * The head is written after all that it counts. Who only reads runs beside who writes, and a handler
 * that Restate gives up leaves what it wrote: neither is seen by anybody before the head says so.
 */

/** Entries that one read looks at; it gets some at once, so that it has few too many. */
const READ_ENTRIES_MAX = 512
const READ_AT_ONCE = 32
/** Of bodies of one reply, but for one that is longer by itself. */
const READ_BYTES_MAX = 4 * 1024 * 1024

/** Entries that one trimming clears: it looks at the first piece of each. */
const TRIM_ENTRIES_MAX = 64

/** Of what is in the state, raised by every change of it. */
const LAYOUT = 2
/** Its entries do not say of how many bytes they are with all before them. */
const LAYOUT_UNCOUNTED = 1

/** What each of those is taken to have: about as many as one of a service that is not busy. */
const UNCOUNTED_BYTES = 4 * 1024

export interface ObjectHead {
  readonly layout: number
  readonly epoch: number
  readonly seq: number
  readonly first: number
  /** Below it nothing is left; `first` is above it where a trimming was given up amid its work. */
  readonly cleared: number
  readonly owner: JournalHead['owner']
  readonly counted: Counted
}

/** Bytes of bodies. */
interface Counted {
  /** Of the first entry that says of how many it is with all before it. */
  readonly from: number
  /** Of all entries that there ever were. */
  readonly all: number
  /** Of those below `first`. */
  readonly trimmed: number
}

export interface ReadEntry {
  readonly seq: number
  readonly epoch: number
  readonly pieces: readonly Uint8Array[]
}

export type TakenOrNot =
  | { readonly kind: 'taken'; readonly epoch: number; readonly seq: number; readonly first: number }
  | { readonly kind: 'overtaken'; readonly epoch: number }

export type ReadOrNot =
  | { readonly kind: 'read'; readonly entries: readonly ReadEntry[] }
  | { readonly kind: 'trimmed'; readonly first: number }
  /** Somebody trims meanwhile: to be asked again. */
  | { readonly kind: 'moved' }

const NOBODY: ObjectHead = {
  ...{ layout: LAYOUT, epoch: 0, seq: 0, first: 1, cleared: 1, owner: null },
  counted: { from: 1, all: 0, trimmed: 0 },
}

/** @throws JournalMisuse */
export async function take(
  state: ObjectState,
  node: string,
  claim: string,
  after: number | null,
): Promise<TakenOrNot> {
  checkClaim(claim)
  const [found = null, known = null] = await state.get(['head', `claim/${claim}`])
  const head = headOf(found)
  const { seq, first } = head
  const epochOfClaim = known === null ? null : Number(parse(known))
  // One that was given up before the head counted it never was.
  if (epochOfClaim !== null && (await isCounted(state, head, claim, epochOfClaim))) {
    return { kind: 'taken', epoch: epochOfClaim, seq, first }
  }
  if (after !== null && after !== head.epoch) return { kind: 'overtaken', epoch: head.epoch }
  const epoch = head.epoch + 1
  const oldest = `taking/${epoch - CLAIMS_KEPT}`
  const [forgotten = null] = epoch > CLAIMS_KEPT ? await state.get([oldest]) : []
  if (forgotten !== null) {
    state.clear(`claim/${String(parse(forgotten))}`)
    state.clear(oldest)
  }
  state.set(`taking/${epoch}`, json(claim))
  state.set(`claim/${claim}`, json(epoch))
  state.set('head', json({ ...head, epoch, owner: { node, claim } } satisfies ObjectHead))
  return { kind: 'taken', epoch, seq, first }
}

/** Whether a taking came to be: the head counts it, and its epoch was given to nobody since. */
async function isCounted(
  state: ObjectState,
  head: ObjectHead,
  claim: string,
  epoch: number,
): Promise<boolean> {
  if (epoch > head.epoch) return false
  const [taking = null] = await state.get([`taking/${epoch}`])
  return taking !== null && parse(taking) === claim
}

export async function look(state: ObjectState): Promise<JournalHead> {
  const [found = null, said = null] = await state.get(['head', 'beat'])
  const { epoch, seq, first, owner } = headOf(found)
  return { epoch, seq, first, owner, beat: beatOf(said) }
}

export async function beat(
  state: ObjectState,
  epoch: number,
  stored: number,
  said: BeatState,
): Promise<void> {
  const [found = null] = await state.get(['beat'])
  const last = beatOf(found)
  if (epoch < (last?.epoch ?? 0)) return
  const next: Beat = { epoch, stored, state: said, count: (last?.count ?? 0) + 1 }
  state.set('beat', json(next))
}

/** @throws JournalMisuse */
export async function append(state: ObjectState, at: Place, body: Uint8Array): Promise<Appended> {
  checkBody(body)
  const head = await loadHead(state)
  const { epoch, seq } = at
  if (epoch !== head.epoch || seq !== head.seq + 1) {
    return judgeAppend(at, head, await presentAt(state, head, seq, body))
  }
  const { counted } = head
  setBody(state, entryKey(seq), epoch, body, counted.all)
  const next = { ...counted, all: counted.all + body.length }
  state.set('head', json({ ...head, seq, counted: next } satisfies ObjectHead))
  return { kind: 'stored' }
}

export async function read(
  state: ObjectState,
  afterSeq: number,
  bytesMax: number,
): Promise<ReadOrNot> {
  const head = await loadHead(state)
  const { seq: last, first } = head
  if (afterSeq + 1 < first) return { kind: 'trimmed', first }
  const end = Math.min(last, afterSeq + READ_ENTRIES_MAX)
  const limit = Math.min(bytesMax, READ_BYTES_MAX)
  const entries: ReadEntry[] = []
  let bytes = 0
  for (let from = afterSeq + 1; from <= end; from += READ_AT_ONCE) {
    const seqs = placesFrom(from, Math.min(end, from + READ_AT_ONCE - 1))
    const values = await state.get(seqs.map(entryKey))
    for (const [index, seq] of seqs.entries()) {
      const value = values[index] ?? null
      if (value === null) return { kind: 'moved' }
      const counting = countingOf(head, seq)
      const about = aboutOf(value, counting)
      bytes += about.bytes
      if (entries.length > 0 && bytes > limit) return { kind: 'read', entries }
      const pieces = await piecesAt(state, entryKey(seq), value, counting)
      if (pieces === null) return { kind: 'moved' }
      entries.push({ seq, epoch: about.epoch, pieces })
    }
  }
  return { kind: 'read', entries }
}

/** @returns whether there is more of it: as much as one handler should do is done */
export async function trim(state: ObjectState, belowSeq: number): Promise<boolean> {
  const head = await loadHead(state)
  const wanted = Math.max(head.first, Math.min(belowSeq, head.seq + 1))
  const end = Math.min(wanted, head.cleared + TRIM_ENTRIES_MAX)
  const seqs = placesFrom(head.cleared, end - 1)
  const values = await state.get(seqs.map(entryKey))
  const first = Math.max(head.first, end)
  const upTo = first > head.first ? bytesUpTo(head, end - 1, values.at(-1) ?? null) : null
  const counted = { ...head.counted, trimmed: upTo ?? head.counted.trimmed }
  const next: ObjectHead = { ...head, first, counted }
  // Before anything is cleared: a place that is read is whole.
  state.set('head', json(next))
  for (const [index, seq] of seqs.entries()) {
    const value = values[index] ?? null
    const bytes = value === null ? null : aboutOf(value, countingOf(head, seq)).bytes
    clearBody(state, entryKey(seq), bytes)
  }
  state.set('head', json({ ...next, cleared: end } satisfies ObjectHead))
  return end < wanted
}

/**
 * Bytes of the entries after a place, as many of them as are counted, or after those that are trimmed.
 * @returns null where somebody trims meanwhile: to be asked again
 */
export async function tailBytesAfter(
  state: ObjectState,
  head: ObjectHead,
  seq: number,
): Promise<number | null> {
  const after = Math.max(seq, head.first - 1)
  const end = Math.min(head.seq, after + TAIL_COUNTED_MAX)
  const [from = null, to = null] = await state.get([entryKey(after), entryKey(end)])
  const [bytesBefore, bytes] = [bytesUpTo(head, after, from), bytesUpTo(head, end, to)]
  return bytesBefore === null || bytes === null ? null : bytes - bytesBefore
}

/**
 * Bytes of all entries up to one that is kept, is the last that is not, or the last of all.
 * @param value of its first key
 * @returns null where it is not there
 */
function bytesUpTo(
  { seq: last, first, counted }: ObjectHead,
  seq: number,
  value: Uint8Array | null,
): number | null {
  if (seq === first - 1) return counted.trimmed
  if (seq === last) return counted.all
  if (seq < counted.from) return seq * UNCOUNTED_BYTES
  return value === null ? null : aboutOf(value, 'counted').bytesUpTo
}

const countingOf = ({ counted }: ObjectHead, seq: number): Counting =>
  seq < counted.from ? 'uncounted' : 'counted'

async function loadHead(state: ObjectState): Promise<ObjectHead> {
  const [found = null] = await state.get(['head'])
  return headOf(found)
}

export function headOf(value: Uint8Array | null): ObjectHead {
  if (value === null) return NOBODY
  const head = parse(value) as ObjectHead
  if (head.layout === LAYOUT) return head
  if (head.layout !== LAYOUT_UNCOUNTED) {
    throw new Error(`the journal is of layout ${head.layout}, and this build knows ${LAYOUT}`)
  }
  const [all, trimmed] = [head.seq * UNCOUNTED_BYTES, (head.first - 1) * UNCOUNTED_BYTES]
  return { ...head, layout: LAYOUT, counted: { from: head.seq + 1, all, trimmed } }
}

function beatOf(value: Uint8Array | null): Beat | null {
  return value === null ? null : (parse(value) as Beat)
}

async function presentAt(
  state: ObjectState,
  head: ObjectHead,
  seq: number,
  body: Uint8Array,
): Promise<Present | null> {
  const [value = null] = await state.get([entryKey(seq)])
  if (value === null) return null
  const about = aboutOf(value, countingOf(head, seq))
  return { epoch: about.epoch, sameBody: isSameBody(about, body) }
}

const entryKey = (seq: number) => `entry/${seq}`
