import { bigintOf } from './bytes.js'
import { Refusal } from './refusal.js'

/**
 * Recursive Length Prefix (Ethereum Yellow Paper, appendix B), strict: only the shortest encoding
 * of each item is accepted and nothing may follow it, so that what was checked is what is hashed.
 */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** A type-4 transaction nests three lists: the transaction, its authorizations, one of them. */
const DEPTH_MAX = 3
/** Items of one list: a transaction has 13, an authorization list at most this many. */
const ITEMS_MAX = 32
const EMPTY = Buffer.alloc(0)

/** @throws Refusal MALFORMED unless `bytes` are exactly one canonical item */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  const { item, end } = decodeItem(bytes, 0, bytes.length, 0)
  if (end !== bytes.length) throw new Refusal('MALFORMED', 'bytes after the RLP item')
  return item
}

function decodeItem(
  bytes: Uint8Array,
  at: number,
  limit: number,
  depth: number,
): { item: RlpItem; end: number } {
  const prefix = at < limit ? (bytes[at] ?? 0) : -1
  if (prefix < 0) throw new Refusal('MALFORMED', 'RLP item missing')
  if (prefix < 0x80) return { item: bytes.subarray(at, at + 1), end: at + 1 }
  const base = prefix < 0xc0 ? 0x80 : 0xc0
  const { start, length } = span(bytes, at, limit, prefix - base)
  const end = start + length
  if (end > limit) throw new Refusal('MALFORMED', 'RLP item too short')
  if (base === 0x80) {
    if (length === 1 && (bytes[start] ?? 0) < 0x80) {
      throw new Refusal('MALFORMED', 'RLP byte not in its shortest form')
    }
    return { item: bytes.subarray(start, end), end }
  }
  if (depth >= DEPTH_MAX) throw new Refusal('MALFORMED', 'RLP nested too deep')
  const items: RlpItem[] = []
  for (let next = start; next < end; ) {
    if (items.length === ITEMS_MAX) throw new Refusal('MALFORMED', 'RLP list too long')
    const decoded = decodeItem(bytes, next, end, depth + 1)
    items.push(decoded.item)
    next = decoded.end
  }
  return { item: items, end }
}

/** Where the content stands; `tag` is the prefix less its base. */
function span(
  bytes: Uint8Array,
  at: number,
  limit: number,
  tag: number,
): { start: number; length: number } {
  if (tag <= 55) return { start: at + 1, length: tag }
  const lengthBytes = tag - 55
  // 3 bytes count 16 MiB, beyond any frame.
  if (lengthBytes > 3 || at + 1 + lengthBytes > limit) {
    throw new Refusal('MALFORMED', 'RLP length')
  }
  let length = 0
  for (let i = 0; i < lengthBytes; i++) length = length * 256 + (bytes[at + 1 + i] ?? 0)
  if (bytes[at + 1] === 0 || length <= 55) {
    throw new Refusal('MALFORMED', 'RLP length not in its shortest form')
  }
  return { start: at + 1 + lengthBytes, length }
}

export function encodeRlp(item: RlpItem): Buffer {
  const out = Buffer.allocUnsafe(encodedLength(item))
  writeItem(out, 0, item)
  return out
}

/** The encoded items of a list that is known to be canonical, and more items after them. */
export function appendToList(list: Uint8Array, items: readonly Uint8Array[]): Buffer {
  const { start } = span(list, 0, list.length, (list[0] ?? 0) - 0xc0)
  const present = list.length - start
  const length = present + lengthOfAll(items)
  const out = Buffer.allocUnsafe(prefixLength(length) + length)
  let at = writePrefix(out, 0, 0xc0, length)
  out.set(list.subarray(start), at)
  at += present
  for (const item of items) at = writeItem(out, at, item)
  return out
}

function encodedLength(item: RlpItem): number {
  const length = item instanceof Uint8Array ? item.length : lengthOfAll(item)
  return isOwnEncoding(item) ? 1 : prefixLength(length) + length
}

function lengthOfAll(items: readonly RlpItem[]): number {
  let length = 0
  for (const item of items) length += encodedLength(item)
  return length
}

/** Writes into memory that is there: a transaction has ten items, and each is signed for. */
function writeItem(out: Buffer, start: number, item: RlpItem): number {
  if (!(item instanceof Uint8Array)) {
    let at = writePrefix(out, start, 0xc0, lengthOfAll(item))
    for (const inner of item) at = writeItem(out, at, inner)
    return at
  }
  const at = isOwnEncoding(item) ? start : writePrefix(out, start, 0x80, item.length)
  out.set(item, at)
  return at + item.length
}

/** A single small byte stands for itself. */
function isOwnEncoding(item: RlpItem): boolean {
  return item instanceof Uint8Array && item.length === 1 && (item[0] ?? 0) < 0x80
}

function prefixLength(length: number): number {
  return length <= 55 ? 1 : 1 + byteCount(length)
}

function writePrefix(out: Buffer, at: number, base: number, length: number): number {
  if (length <= 55) return out.writeUInt8(base + length, at)
  const bytes = byteCount(length)
  return out.writeUIntBE(length, out.writeUInt8(base + 55 + bytes, at), bytes)
}

/** @param value below 2^48 */
function byteCount(value: number): number {
  let count = 1
  for (let rest = Math.floor(value / 256); rest > 0; rest = Math.floor(rest / 256)) count++
  return count
}

/** Minimal big-endian bytes; zero is the empty string. */
export function integerBytes(value: bigint): Buffer {
  if (value < 0n) throw new RangeError('negative integer')
  if (value === 0n) return EMPTY
  if (value < 2n ** 48n) return countBytes(Number(value))
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

/** @param value 1 to 2^48 - 1 */
function countBytes(value: number): Buffer {
  const length = byteCount(value)
  const out = Buffer.allocUnsafe(length)
  out.writeUIntBE(value, 0, length)
  return out
}

/** @throws Refusal MALFORMED unless the item is a string of exactly `length` bytes */
export function bytesItem(item: RlpItem | undefined, length?: number): Uint8Array {
  if (!(item instanceof Uint8Array)) throw new Refusal('MALFORMED', 'RLP string expected')
  if (length !== undefined && item.length !== length) {
    throw new Refusal('MALFORMED', 'RLP string of another length')
  }
  return item
}

/** @throws Refusal MALFORMED unless the item is a canonical integer of at most `bytesMax` bytes */
export function integerItem(item: RlpItem | undefined, bytesMax: number): bigint {
  const bytes = bytesItem(item)
  if (bytes.length > bytesMax || bytes[0] === 0) {
    throw new Refusal('MALFORMED', 'RLP integer not canonical')
  }
  return bigintOf(bytes)
}

/** @throws Refusal MALFORMED above 2^53 - 1 */
export function countItem(item: RlpItem | undefined): number {
  const bytes = bytesItem(item)
  if (bytes.length > 8 || bytes[0] === 0)
    throw new Refusal('MALFORMED', 'RLP integer not canonical')
  let value = 0
  for (const byte of bytes) value = value * 256 + byte
  if (!Number.isSafeInteger(value)) throw new Refusal('MALFORMED', 'RLP integer too large')
  return value
}

/** @throws Refusal MALFORMED unless the item is a list of `length` items (any number without) */
export function listItem(item: RlpItem | undefined, length?: number): readonly RlpItem[] {
  if (item === undefined || item instanceof Uint8Array) {
    throw new Refusal('MALFORMED', 'RLP list expected')
  }
  if (length !== undefined && item.length !== length) {
    throw new Refusal('MALFORMED', 'RLP list of another length')
  }
  return item
}
