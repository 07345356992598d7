import { Unpackr } from 'msgpackr'
import { packedBehind, packedPairBehind, RECORD_ENCODER } from './message-pack.js'

/**
 * Every record has a checksum, because LMDB has none: a bit that flipped on the disk would be read
 * as another amount or nonce. The checksum covers the record's place too, so a record under the
 * wrong key is detected. The byte before it begins no MessagePack value, which tells sealed records
 * from those of older builds.
 *
 * `0xc1 | checksum 4, little endian | MessagePack`
 *
 * Indexes, whose keys hold everything, have a single byte without a checksum.
 */

/** The byte that the MessagePack specification calls "never used". */
const SEALED = 0xc1
const SEAL_BYTES = 5
/** The value read from an index. */
const PRESENCE = 1

/** Stands for a value that is not what was written. */
export const DAMAGED: unique symbol = Symbol('damaged')

declare const UNSEALED: unique symbol
/** MessagePack after space for its seal, which is computed once the record's place is known. */
export type Unsealed = Buffer & { readonly [UNSEALED]: true }

/** The value of index entries, whose keys hold everything. */
export const PRESENT = Buffer.of(PRESENCE) as unknown as Unsealed

/** LMDB reads every record into the same buffer, so bytes that are kept are copied. */
const unpackr = new Unpackr({ ...RECORD_ENCODER, copyBuffers: true })

/** @returns MessagePack of `value`; later records do not overwrite it */
export function packed(value: unknown): Uint8Array {
  return packedBehind(0, value)
}

/** @returns the value that was given to `packed` */
export function unpacked(bytes: Uint8Array): unknown {
  return unpackr.unpack(bytes)
}

/** @returns MessagePack of `value` for a record; later records do not overwrite it */
export function packedRecord(value: unknown): Unsealed {
  return packedBehind(SEAL_BYTES, value) as Unsealed
}

/** @returns a list of two for a record, of which the second is MessagePack already */
export function packedPair(first: unknown, second: Uint8Array): Unsealed {
  return packedPairBehind(SEAL_BYTES, first, second) as Unsealed
}

/**
 * @returns the record without space for a seal, or the value of `PRESENT`; for sending it to
 * another process
 */
export function bareRecord(record: Unsealed): Uint8Array | typeof PRESENCE {
  return record.length === PRESENT.length ? PRESENCE : record.subarray(SEAL_BYTES)
}

/** @param bare the result of `bareRecord` */
export function fromBareRecord(bare: Uint8Array | typeof PRESENCE): Unsealed {
  if (bare === PRESENCE) return PRESENT
  const record = Buffer.alloc(SEAL_BYTES + bare.length)
  record.set(bare, SEAL_BYTES)
  return record as unknown as Unsealed
}

/** Writes the seal before the record. @param place the result of `placeOf` */
export function seal(record: Unsealed, place: number): Buffer {
  // Compared by length, because rows from other threads contain copies of `PRESENT`.
  if (record.length === PRESENT.length) return record
  const sum = checksum(record, record.length, place)
  record[0] = SEALED
  record[1] = sum
  record[2] = sum >>> 8
  record[3] = sum >>> 16
  record[4] = sum >>> 24
  return record
}

/**
 * @param place the result of `placeOf`
 * @returns whether these bytes were written, and in this place
 */
export function isSound(bytes: Uint8Array, length: number, place: number): boolean {
  if (length === 1 && bytes[0] === PRESENCE) return true
  if (bytes[0] !== SEALED || length <= SEAL_BYTES) return false
  const sum = checksum(bytes, length, place)
  return view.getInt32(bytes.byteOffset + 1, true) === sum
}

/**
 * @param place the result of `placeOf`
 * @returns the value, or DAMAGED
 */
export function opened(bytes: Uint8Array, length: number, place: number): unknown {
  if (!isSound(bytes, length, place)) return DAMAGED
  if (length === 1) return PRESENCE
  try {
    return unpackr.unpack(bytes, { start: SEAL_BYTES, end: length })
  } catch {
    return DAMAGED
  }
}

/**
 * False for a number below 128 as builds before schema 12 wrote it; no sealed record is that short.
 */
export function isSealed(bytes: Uint8Array): boolean {
  return bytes.length > SEAL_BYTES
}

/** An odd factor loses no bit in a product (the golden ratio, as in Knuth's hash). */
const FACTOR = 0x9e3779b1
const SECOND_SEED = 0x85ebca6b

/** A view of the buffer that was read last. Most records lie in the same block. */
let view: DataView<ArrayBufferLike> = new DataView(new ArrayBuffer(0))

/**
 * 32 bits over what follows the seal, computed as two sums of every other word. Each step is one to
 * one in the sum and in the word, so any change of a single word is detected, and of other changes
 * all but one in four billion.
 */
function checksum(bytes: Uint8Array, length: number, place: number): number {
  const { buffer, byteOffset } = bytes
  if (view.buffer !== buffer) view = new DataView(buffer)
  const end = byteOffset + length
  let at = byteOffset + SEAL_BYTES
  let sum = place ^ length
  let second = SECOND_SEED
  for (; at + 8 <= end; at += 8) {
    sum = Math.imul(sum ^ view.getInt32(at, true), FACTOR)
    sum ^= sum >>> 15
    second = Math.imul(second ^ view.getInt32(at + 4, true), FACTOR)
    second ^= second >>> 15
  }
  sum = Math.imul(sum ^ second, FACTOR)
  sum ^= sum >>> 15
  for (; at < end; at++) {
    sum = Math.imul(sum ^ view.getUint8(at), FACTOR)
    sum ^= sum >>> 15
  }
  return sum
}

type KeyPart = string | number

/** 32 bits that identify where a record belongs. @param space number of the key space */
export function placeOf(space: number, key: KeyPart | readonly KeyPart[]): number {
  if (typeof key !== 'object') return withPart(space, key)
  let sum = space
  for (const part of key) sum = withPart(sum, part)
  return sum
}

function withPart(before: number, part: KeyPart): number {
  if (typeof part === 'number') {
    const high = Math.trunc(part / 2 ** 32)
    return Math.imul(Math.imul(before ^ part, FACTOR) ^ high, FACTOR) | 1
  }
  let sum = Math.imul(before ^ part.length, FACTOR)
  let at = 0
  for (; at + 4 <= part.length; at += 4) {
    const even = part.charCodeAt(at) | (part.charCodeAt(at + 2) << 16)
    const odd = part.charCodeAt(at + 1) | (part.charCodeAt(at + 3) << 16)
    sum = Math.imul(sum ^ even ^ ((odd << 8) | (odd >>> 24)), FACTOR)
    sum ^= sum >>> 15
  }
  for (; at < part.length; at++) sum = Math.imul(sum ^ part.charCodeAt(at), FACTOR)
  return sum
}
