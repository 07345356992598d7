import { bigintOf } from './bytes.js'
import { Refusal } from './refusal.js'

/**
 * Recursive Length Prefix (Ethereum Yellow Paper, appendix B), read strictly: only the shortest
 * encoding of each item is accepted, and nothing may follow it, so that the checked bytes are the
 * hashed bytes.
 */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** A type-4 transaction nests three lists: the transaction, its authorizations, one of them. */
const DEPTH_MAX = 3
/** The bound of a list: a transaction has 13 items, an authorization list at most this many. */
const ITEMS_MAX = 32

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

/** Locates the content; `tag` is the prefix minus its base. */
function span(
  bytes: Uint8Array,
  at: number,
  limit: number,
  tag: number,
): { start: number; length: number } {
  if (tag <= 55) return { start: at + 1, length: tag }
  const lengthBytes = tag - 55
  // 3 bytes count to 16 MiB, more than any frame.
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
