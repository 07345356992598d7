import {
  type Appended,
  CLAIMS_KEPT,
  checkBody,
  checkClaim,
  type Heartbeat,
  type HeartbeatState,
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
 * A partition of the journal as a virtual object of Restate, that is, how its handlers change its
 * state. Restate runs writing handlers one at a time, each to its end, on whichever node leads.
 * Handlers wait only for the state, and have the same effect if they run again.
 *
 * State, by key:
 *   head         position of the partition, JSON
 *   beat         the leader's last heartbeat, JSON
 *   claim/<c>    epoch of an acquisition; taking/<epoch> its claim, used to remove the oldest
 *   entry/<seq>  epoch, length and SHA-256 of a body, the total length up to it, and its first piece;
 *                entry/<seq>/<n> further pieces
 *   snapshots    see restate-partition-snapshots.ts
 *
 * The head is written after everything that it counts. Reading handlers run at the same time as a
 * writing one, and a handler that Restate ends leaves what it wrote. Neither is visible before the
 * head counts it.
 */

/** The most entries of one read; it gets some at a time, so that it reads few too many. */
const READ_ENTRIES_MAX = 512
const READ_AT_ONCE = 32
/** Bytes of bodies in one reply, except for a single longer one. */
const READ_BYTES_MAX = 4 * 1024 * 1024

/** Entries that one trim clears; it reads the first piece of each. */
const TRIM_ENTRIES_MAX = 64

/** Layout of the state, raised by every change of it. */
const LAYOUT = 2
/** Entries of this layout do not record the total bytes up to them. */
const LAYOUT_UNCOUNTED = 1

/** Assumed size of such an entry, which is typical of a service that is not busy. */
const UNCOUNTED_BYTES = 4 * 1024

interface ObjectHead {
  readonly layout: number
  readonly epoch: number
  readonly seq: number
  readonly first: number
  /** All entries below it are removed; it is below `first` if a trim was ended early. */
  readonly cleared: number
  readonly owner: JournalHead['owner']
  readonly counted: Counted
}

/** Bytes of bodies. */
interface Counted {
  /** The first entry that records the total bytes up to it. */
  readonly from: number
  /** Bytes of all entries that ever existed. */
  readonly all: number
  /** Bytes of the entries below `first`. */
  readonly trimmed: number
}

interface ReadEntry {
  readonly seq: number
  readonly epoch: number
  readonly pieces: readonly Uint8Array[]
}

export type AcquireOutcome =
  | { readonly kind: 'taken'; readonly epoch: number; readonly seq: number; readonly first: number }
  | { readonly kind: 'overtaken'; readonly epoch: number }

export type ReadOrNot =
  | { readonly kind: 'read'; readonly entries: readonly ReadEntry[] }
  | { readonly kind: 'trimmed'; readonly first: number }
  /** Entries are being trimmed at the same time; the caller tries again. */
  | { readonly kind: 'moved' }

const NOBODY: ObjectHead = {
  ...{ layout: LAYOUT, epoch: 0, seq: 0, first: 1, cleared: 1, owner: null },
  counted: { from: 1, all: 0, trimmed: 0 },
}

/** @throws JournalMisuse */
export async function acquire(
  state: ObjectState,
  node: string,
  claim: string,
  after: number | null,
): Promise<AcquireOutcome> {
  checkClaim(claim)
  const [found = null, known = null] = await state.get(['head', `claim/${claim}`])
  const head = headOf(found)
  const { seq, first } = head
  const epochOfClaim = known === null ? null : Number(parse(known))
  // An acquisition that was ended before the head counted it never happened.
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

/**
 * Whether an acquisition happened: the head counts it, and its epoch was assigned to no other
 * since.
 */
async function isCounted(
  state: ObjectState,
  head: ObjectHead,
  claim: string,
  epoch: number,
): Promise<boolean> {
  if (epoch > head.epoch) return false
  const [claimed = null] = await state.get([`taking/${epoch}`])
  return claimed !== null && parse(claimed) === claim
}

export async function readHead(state: ObjectState): Promise<JournalHead> {
  const [found = null, said = null] = await state.get(['head', 'beat'])
  const { epoch, seq, first, owner } = headOf(found)
  return { epoch, seq, first, owner, beat: heartbeatOf(said) }
}

export async function heartbeat(
  state: ObjectState,
  epoch: number,
  stored: number,
  said: HeartbeatState,
): Promise<void> {
  const [found = null] = await state.get(['beat'])
  const last = heartbeatOf(found)
  if (epoch < (last?.epoch ?? 0)) return
  const next: Heartbeat = { epoch, stored, state: said, count: (last?.count ?? 0) + 1 }
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

/** @returns whether more is left; one call does as much as one handler should */
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
  // Written before anything is cleared, so that an entry that is read is whole.
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
 * Bytes of the entries after a place, up to the counted number, or after the trimmed ones.
 * @returns null if entries are being trimmed; the caller tries again
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
 * Bytes of all entries up to one that is kept, is the last trimmed, or is the last.
 * @param value of its first key
 * @returns null if the entry is missing
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
    throw new Error(`the journal has layout ${head.layout}, but this build knows only ${LAYOUT}`)
  }
  const [all, trimmed] = [head.seq * UNCOUNTED_BYTES, (head.first - 1) * UNCOUNTED_BYTES]
  return { ...head, layout: LAYOUT, counted: { from: head.seq + 1, all, trimmed } }
}

function heartbeatOf(value: Uint8Array | null): Heartbeat | null {
  return value === null ? null : (parse(value) as Heartbeat)
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
