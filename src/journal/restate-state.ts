import { createHash } from 'node:crypto'

/**
 * What handlers see of the state of a virtual object of Restate, and how a body lies in it: by pieces,
 * of which the first has before it what there is to know of all of them.
 */
export interface ObjectState {
  /** Of one key after another, all at once; a handler waits for one `get` at a time. */
  get(keys: readonly string[]): Promise<readonly (Uint8Array | null)[]>
  set(key: string, value: Uint8Array): void
  clear(key: string): void
  clearAll(): void
}

/** Of one key: Restate carries each value whole, and several at once. */
export const PIECE_BYTES = 64 * 1024

export interface About {
  readonly epoch: number
  /** Of the whole body. */
  readonly bytes: number
  readonly digest: Uint8Array
  /** Of all bodies up to this one, itself included; null where those before it were never counted. */
  readonly bytesUpTo: number | null
}

/** Whether what lies under a key has `bytesUpTo` is known by whoever reads it. */
export type Counting = 'counted' | 'uncounted'

const EPOCH_BYTES = 8
const LENGTH_AT = EPOCH_BYTES
const DIGEST_AT = LENGTH_AT + 4
const UP_TO_AT = DIGEST_AT + 32
const UP_TO_BYTES = 8

const aboutBytes = (counting: Counting) =>
  counting === 'counted' ? UP_TO_AT + UP_TO_BYTES : UP_TO_AT

/** @param bytesBefore of all bodies before it */
export function setBody(
  state: ObjectState,
  key: string,
  epoch: number,
  body: Uint8Array,
  bytesBefore: number,
): void {
  const packed = Buffer.alloc(aboutBytes('counted'))
  packed.writeBigUInt64BE(BigInt(epoch))
  packed.writeUInt32BE(body.length, LENGTH_AT)
  packed.set(digestOf(body), DIGEST_AT)
  packed.writeBigUInt64BE(BigInt(bytesBefore + body.length), UP_TO_AT)
  state.set(key, Buffer.concat([packed, body.subarray(0, PIECE_BYTES)]))
  for (let piece = 1; piece < piecesOf(body.length); piece++) {
    const from = piece * PIECE_BYTES
    state.set(pieceKey(key, piece), body.subarray(from, from + PIECE_BYTES))
  }
}

/** @param value of its first key */
export function aboutOf(value: Uint8Array, counting: Counting): About {
  const packed = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return {
    epoch: Number(packed.readBigUInt64BE()),
    bytes: packed.readUInt32BE(LENGTH_AT),
    digest: packed.subarray(DIGEST_AT, UP_TO_AT),
    bytesUpTo: counting === 'counted' ? Number(packed.readBigUInt64BE(UP_TO_AT)) : null,
  }
}

export const isSameBody = ({ bytes, digest }: About, body: Uint8Array) =>
  bytes === body.length && Buffer.compare(digest, digestOf(body)) === 0

/**
 * @param value of its first key
 * @returns null where one is gone by now
 */
export async function piecesAt(
  state: ObjectState,
  key: string,
  value: Uint8Array,
  counting: Counting,
): Promise<readonly Uint8Array[] | null> {
  const further = furtherKeys(key, aboutOf(value, counting).bytes)
  const rest = further.length === 0 ? [] : await state.get(further)
  const pieces = [value.subarray(aboutBytes(counting))]
  for (const piece of rest) {
    if (piece === null) return null
    pieces.push(piece)
  }
  return pieces
}

/** @param bytes of the body; null: of it no more than the first key is known */
export function clearBody(state: ObjectState, key: string, bytes: number | null): void {
  for (const further of furtherKeys(key, bytes ?? 0)) state.clear(further)
  state.clear(key)
}

const pieceKey = (key: string, piece: number) => `${key}/${piece}`
const piecesOf = (bytes: number) => Math.ceil(bytes / PIECE_BYTES)
const furtherKeys = (key: string, bytes: number) =>
  placesFrom(1, piecesOf(bytes) - 1).map((piece) => pieceKey(key, piece))
const digestOf = (body: Uint8Array) => createHash('sha256').update(body).digest()

/** None where `to` is before `from`. */
export function placesFrom(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

export const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))
export const parse = (value: Uint8Array): unknown => JSON.parse(Buffer.from(value).toString())
