import { createHash } from 'node:crypto'
import {
  type Appended,
  type Beat,
  type BeatState,
  CLAIMS_KEPT,
  checkBody,
  checkClaim,
  type JournalHead,
  type Place,
} from './journal.js'
import { judgeAppend, type Present } from './judge-append.js'

/**
 * A partition of the journal as a virtual object of Restate: what its handlers do with its state.
 * Restate runs one at a time of those that write, each to its end, on whichever node leads: nothing
 * here waits for anything but the state, and all of it is the same when it is run again.
 *
 * State, by key:
 *   head         where the partition is, JSON
 *   beat         what its owner last said, JSON
 *   claim/<c>    epoch of a taking; taking/<epoch> its claim, by which the oldest is forgotten
 *   entry/<seq>  epoch, length and SHA-256 of a body, and its first piece; entry/<seq>/<n> further ones
 *
 * The head is written after all that it counts. Who only reads runs beside who writes, and a handler
 * that Restate gives up leaves what it wrote: neither is seen by anybody before the head says so.
 */
export interface ObjectState {
  /** Of one key after another, all at once; a handler waits for one `get` at a time. */
  get(keys: readonly string[]): Promise<readonly (Uint8Array | null)[]>
  set(key: string, value: Uint8Array): void
  clear(key: string): void
}

/** Of one key: Restate carries each value whole, and several at once. */
export const PIECE_BYTES = 64 * 1024

/** Entries that one read looks at; it gets some at once, so that it has few too many. */
const READ_ENTRIES_MAX = 512
const READ_AT_ONCE = 32
/** Of bodies of one reply, but for one that is longer by itself. */
const READ_BYTES_MAX = 4 * 1024 * 1024

/** Entries that one trimming clears: it looks at the first piece of each. */
const TRIM_ENTRIES_MAX = 64

/** Of what is in the state, raised by every change of it. */
const LAYOUT = 1

export interface ObjectHead {
  readonly layout: number
  readonly epoch: number
  readonly seq: number
  readonly first: number
  /** Below it nothing is left; `first` is above it where a trimming was given up amid its work. */
  readonly cleared: number
  readonly owner: JournalHead['owner']
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

const NOBODY: ObjectHead = { layout: LAYOUT, epoch: 0, seq: 0, first: 1, cleared: 1, owner: null }

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
    return judgeAppend(at, head, await presentAt(state, seq, body))
  }
  const about = { epoch, bytes: body.length, digest: digestOf(body) }
  state.set(entryKey(seq), Buffer.concat([packAbout(about), body.subarray(0, PIECE_BYTES)]))
  for (let piece = 1; piece < piecesOf(body.length); piece++) {
    const from = piece * PIECE_BYTES
    state.set(pieceKey(seq, piece), body.subarray(from, from + PIECE_BYTES))
  }
  state.set('head', json({ ...head, seq } satisfies ObjectHead))
  return { kind: 'stored' }
}

export async function read(
  state: ObjectState,
  afterSeq: number,
  bytesMax: number,
): Promise<ReadOrNot> {
  const { seq: last, first } = await loadHead(state)
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
      const about = unpackAbout(value)
      bytes += about.bytes
      if (entries.length > 0 && bytes > limit) return { kind: 'read', entries }
      const further = placesFrom(1, piecesOf(about.bytes) - 1)
      const rest = further.length === 0 ? [] : await state.get(further.map((n) => pieceKey(seq, n)))
      const pieces = [value.subarray(ABOUT_BYTES)]
      for (const piece of rest) {
        if (piece === null) return { kind: 'moved' }
        pieces.push(piece)
      }
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
  // Before anything is cleared: a place that is read is whole.
  state.set('head', json({ ...head, first } satisfies ObjectHead))
  for (const [index, seq] of seqs.entries()) {
    const value = values[index] ?? null
    const pieces = value === null ? 1 : piecesOf(unpackAbout(value).bytes)
    for (const piece of placesFrom(1, pieces - 1)) state.clear(pieceKey(seq, piece))
    state.clear(entryKey(seq))
  }
  state.set('head', json({ ...head, first, cleared: end } satisfies ObjectHead))
  return end < wanted
}

async function loadHead(state: ObjectState): Promise<ObjectHead> {
  const [found = null] = await state.get(['head'])
  return headOf(found)
}

function headOf(value: Uint8Array | null): ObjectHead {
  if (value === null) return NOBODY
  const head = parse(value) as ObjectHead
  if (head.layout === LAYOUT) return head
  throw new Error(`the journal is of layout ${head.layout}, and this build knows ${LAYOUT} alone`)
}

function beatOf(value: Uint8Array | null): Beat | null {
  return value === null ? null : (parse(value) as Beat)
}

async function presentAt(
  state: ObjectState,
  seq: number,
  body: Uint8Array,
): Promise<Present | null> {
  const [value = null] = await state.get([entryKey(seq)])
  if (value === null) return null
  const { epoch, bytes, digest } = unpackAbout(value)
  const sameBody = bytes === body.length && Buffer.compare(digest, digestOf(body)) === 0
  return { epoch, sameBody }
}

const entryKey = (seq: number) => `entry/${seq}`
const pieceKey = (seq: number, piece: number) => `entry/${seq}/${piece}`
const piecesOf = (bytes: number) => Math.ceil(bytes / PIECE_BYTES)
const digestOf = (body: Uint8Array) => createHash('sha256').update(body).digest()

/** None where `to` is before `from`. */
function placesFrom(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

interface About {
  readonly epoch: number
  /** Of the whole body. */
  readonly bytes: number
  readonly digest: Uint8Array
}

const EPOCH_BYTES = 8
const LENGTH_AT = EPOCH_BYTES
const DIGEST_AT = LENGTH_AT + 4
const ABOUT_BYTES = DIGEST_AT + 32

function packAbout({ epoch, bytes, digest }: About): Uint8Array {
  const packed = Buffer.alloc(ABOUT_BYTES)
  packed.writeBigUInt64BE(BigInt(epoch))
  packed.writeUInt32BE(bytes, LENGTH_AT)
  packed.set(digest, DIGEST_AT)
  return packed
}

function unpackAbout(value: Uint8Array): About {
  const packed = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return {
    epoch: Number(packed.readBigUInt64BE()),
    bytes: packed.readUInt32BE(LENGTH_AT),
    digest: packed.subarray(DIGEST_AT, ABOUT_BYTES),
  }
}

const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))
const parse = (value: Uint8Array): unknown => JSON.parse(Buffer.from(value).toString())
