import type { Hex } from '../domain/ids.js'
import { PAYLOAD_BYTES_MAX } from './limits.js'

/**
 * Recursive Length Prefix (Ethereum Yellow Paper, appendix B), written from end to start: when a
 * prefix is written, the content that it counts is already there. One pass is enough, and no item
 * needs its own memory; every signature takes two encodings.
 */

/** Byte strings, or values encoded as one: hex text, and integers without leading zeros. */
export type RlpValue = Uint8Array | Hex | bigint | number | readonly RlpValue[]

/** Room for a payload and the signature at its end. */
const room = Buffer.allocUnsafeSlow(PAYLOAD_BYTES_MAX + 128)

/** @throws RangeError for invalid integers or hex, and for more than a payload can hold */
export function encodeRlp(value: RlpValue): Buffer {
  return copyFrom(writeValue(room.length, value))
}

/** Encodes the fields after the byte of the envelope's type (EIP-2718). */
export function encodeEnvelope(type: number, fields: readonly RlpValue[]): Buffer {
  return copyFrom(writeByte(writeValue(room.length, fields), type))
}

/**
 * Adds items to the end of an envelope's list.
 * @param envelope the result of `encodeEnvelope`
 */
export function appendToEnvelope(envelope: Uint8Array, items: readonly RlpValue[]): Buffer {
  const listed = envelope.subarray(1 + listPrefixLength(envelope[1] ?? 0))
  const start = writeBytes(writeItems(room.length, items), listed)
  return copyFrom(writeByte(writePrefix(start, 0xc0, room.length - start), envelope[0] ?? 0))
}

function copyFrom(start: number): Buffer {
  const out = Buffer.allocUnsafe(room.length - start)
  room.copy(out, 0, start)
  return out
}

function listPrefixLength(prefix: number): number {
  return prefix <= 0xf7 ? 1 : prefix - 0xf6
}

/** Each writer below writes up to `end`, and returns where its bytes start. */
function writeValue(end: number, value: RlpValue): number {
  if (typeof value === 'bigint') return writeInteger(end, value)
  if (typeof value === 'number') return writeCount(end, value)
  if (typeof value === 'string') return prefixed(writeHex(end, value), end)
  if (value instanceof Uint8Array) return prefixed(writeBytes(end, value), end)
  const start = writeItems(end, value)
  return writePrefix(start, 0xc0, end - start)
}

function writeItems(end: number, items: readonly RlpValue[]): number {
  let start = end
  for (let i = items.length - 1; i >= 0; i--) start = writeValue(start, items[i] ?? 0)
  return start
}

/** Zero is the empty string. */
function writeInteger(end: number, value: bigint): number {
  if (value <= Number.MAX_SAFE_INTEGER) return writeCount(end, Number(value))
  const digits = value.toString(16)
  return prefixed(writeHex(end, digits.length % 2 === 0 ? `0x${digits}` : `0x0${digits}`), end)
}

function writeCount(end: number, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not an unsigned integer')
  return prefixed(writeBigEndian(end, value), end)
}

function writeHex(end: number, text: Hex): number {
  const length = (text.length - 2) / 2
  const start = claim(end, length)
  if (room.write(text.slice(2), start, length, 'hex') !== length) throw new RangeError('not hex')
  return start
}

function writeBytes(end: number, bytes: Uint8Array): number {
  const start = claim(end, bytes.length)
  room.set(bytes, start)
  return start
}

function writeByte(end: number, byte: number): number {
  const start = claim(end, 1)
  room[start] = byte
  return start
}

/** Writes as few bytes as possible: none for zero. */
function writeBigEndian(end: number, value: number): number {
  let start = end
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) {
    start = writeByte(start, rest % 256)
  }
  return start
}

/** A single small byte is its own encoding. */
function prefixed(start: number, end: number): number {
  if (end - start === 1 && (room[start] ?? 0) < 0x80) return start
  return writePrefix(start, 0x80, end - start)
}

function writePrefix(end: number, base: number, length: number): number {
  if (length <= 55) return writeByte(end, base + length)
  const start = writeBigEndian(end, length)
  return writeByte(start, base + 55 + (end - start))
}

function claim(end: number, length: number): number {
  if (length > end) throw new RangeError('longer than any payload')
  return end - length
}
