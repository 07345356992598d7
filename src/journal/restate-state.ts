import { createHash } from 'node:crypto'

/**
 * What handlers see of a virtual object's state in Restate, and how a body is stored in it: in
 * pieces, the first of which begins with a description of the body.
 */
export interface ObjectState {
  /** Reads several keys at once, in order; a handler waits for one `get` at a time. */
  get(keys: readonly string[]): Promise<readonly (Uint8Array | null)[]>
  set(key: string, value: Uint8Array): void
  clear(key: string): void
  clearAll(): void
}

/** Size of one key's value. Restate transfers each value whole, and several at once. */
export const PIECE_BYTES = 64 * 1024

export interface About {
  readonly epoch: number
  /** Length of the whole body. */
  readonly bytes: number
  readonly digest: Uint8Array
  /** Bytes of all bodies up to and including this one; null if earlier bodies were not counted. */
  readonly bytesUpTo: number | null
}

/** Whether the value of a key has `bytesUpTo`, which its reader knows. */
export type Counting = 'counted' | 'uncounted'

const EPOCH_BYTES = 8
const LENGTH_AT = EPOCH_BYTES
const DIGEST_AT = LENGTH_AT + 4
const UP_TO_AT = DIGEST_AT + 32
const UP_TO_BYTES = 8

const aboutBytes = (counting: Counting) =>
  counting === 'counted' ? UP_TO_AT + UP_TO_BYTES : UP_TO_AT

/** @param bytesBefore length of all bodies before it */
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

/** @param value of the body's first key */
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
 * @param value of the body's first key
 * @returns null if a piece is already gone
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

/** @param bytes length of the body; null if only its first key is known */
export function clearBody(state: ObjectState, key: string, bytes: number | null): void {
  for (const further of furtherKeys(key, bytes ?? 0)) state.clear(further)
  state.clear(key)
}

const pieceKey = (key: string, piece: number) => `${key}/${piece}`
const piecesOf = (bytes: number) => Math.ceil(bytes / PIECE_BYTES)
const furtherKeys = (key: string, bytes: number) =>
  placesFrom(1, piecesOf(bytes) - 1).map((piece) => pieceKey(key, piece))
const digestOf = (body: Uint8Array) => createHash('sha256').update(body).digest()

/** Empty if `to` is before `from`. */
export function placesFrom(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

export const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))
export const parse = (value: Uint8Array): unknown => JSON.parse(Buffer.from(value).toString())
