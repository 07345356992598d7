/**
 * An immutable set of listed addresses in one SharedArrayBuffer, so that every thread reads the
 * same copy without a message. A lookup uses a bitmap of the three-byte runs ("grams") near the end
 * of the entries, then a hash table over all 20 bytes, then a full comparison.
 *
 * Several grams per entry: at any offset in calldata, one of an address's GRAMS_PER_ENTRY
 * neighbouring grams ends at a multiple of GRAMS_PER_ENTRY, so a scan only has to read there. Grams
 * at the end: calldata is mostly zeros and vanity addresses start with zeros, so grams of the first
 * bytes would turn padding into candidates.
 */
import { ADDRESS_BYTES } from './address-bytes.js'

/** Grams end at these bytes of an address: the last one, and the ones before it. */
export const GRAM_END_LAST = ADDRESS_BYTES - 1
export const GRAMS_PER_ENTRY = 8
export const GRAM_END_FIRST = GRAM_END_LAST - GRAMS_PER_ENTRY + 1

/** 2^24 bits = 2 MiB: with 100,000 entries 5 % of random grams pass the bitmap. */
export const GRAM_BITS_LARGE = 24
/** 2^16 bits = 8 KiB, for the few addresses of one user's rules. */
export const GRAM_BITS_SMALL = 16

/** More entries than all public lists hold together; bounds memory at ~60 MB. */
export const SET_ENTRIES_MAX = 1_000_000

const HEADER_BYTES = 20
const MAGIC = 0x53435331

export interface AddressSet {
  readonly buffer: SharedArrayBuffer
  readonly size: number
  /** Applied to three bytes, the last of them lowest. */
  readonly gramMask: number
  readonly bitmap: Uint32Array
  /** Entry index + 1; 0 for an empty slot. */
  readonly slots: Uint32Array
  /** The list of an entry: an index into the published lists. */
  readonly listIndex: Uint16Array
  /** 20 bytes per entry. */
  readonly bytes: Uint8Array
}

interface SetPart {
  /** Whole addresses, 20 bytes each. */
  readonly packed: Uint8Array
  readonly listIndex: number
}

/**
 * Builds a set. An address on several lists counts for the first part that holds it.
 * @throws RangeError when the parts hold more than SET_ENTRIES_MAX addresses
 */
export function buildAddressSet(parts: readonly SetPart[], gramBits = GRAM_BITS_LARGE): AddressSet {
  let capacity = 0
  for (const part of parts) capacity += Math.floor(part.packed.length / ADDRESS_BYTES)
  if (capacity > SET_ENTRIES_MAX) throw new RangeError(`more than ${SET_ENTRIES_MAX} addresses`)
  let slotCount = 16
  while (slotCount < capacity * 2) slotCount *= 2

  const buffer = new SharedArrayBuffer(sizeOf(gramBits, slotCount, capacity))
  const header = new Uint32Array(buffer, 0, 5)
  header[0] = MAGIC
  header[1] = gramBits
  header[2] = slotCount
  header[3] = capacity
  const set = viewOf(buffer, gramBits, slotCount, capacity)
  let size = 0
  for (const part of parts) {
    const whole = part.packed.length - (part.packed.length % ADDRESS_BYTES)
    let at = size * ADDRESS_BYTES
    const end = at + whole
    set.bytes.set(part.packed.subarray(0, whole), at)
    for (; at < end; at += ADDRESS_BYTES) {
      const slot = slotFor(set, set.bytes, at)
      if (set.slots[slot] !== 0) continue
      const to = size * ADDRESS_BYTES
      if (at !== to) set.bytes.copyWithin(to, at, at + ADDRESS_BYTES)
      set.listIndex[size] = part.listIndex
      size++
      set.slots[slot] = size
      markGrams(set, at)
    }
  }
  header[4] = size
  return { ...set, size }
}

/**
 * Views a set that another thread built.
 * @throws TypeError when the buffer is not a set
 */
export function openAddressSet(buffer: SharedArrayBuffer): AddressSet {
  const [magic, gramBits = 0, slotCount = 0, capacity = 0, size] = new Uint32Array(buffer, 0, 5)
  if (magic !== MAGIC || size === undefined) throw new TypeError('not an address set')
  // The positions of its parts follow from the capacity: duplicates leave some of it free.
  return { ...viewOf(buffer, gramBits, slotCount, capacity), size }
}

/** The index of the entry equal to the 20 bytes at `at`, or -1. */
export function findEntry(set: AddressSet, bytes: Uint8Array, at: number): number {
  // Every gram of an entry is marked; the two that share no byte exclude the most.
  if (!isMarked(set, gramAt(bytes, at + GRAM_END_LAST))) return -1
  if (!isMarked(set, gramAt(bytes, at + GRAM_END_FIRST))) return -1
  return (set.slots[slotFor(set, bytes, at)] as number) - 1
}

/** @param gram three bytes, the last of them lowest */
export function isMarked({ bitmap, gramMask }: AddressSet, gram: number): boolean {
  const bit = gram & gramMask
  return (((bitmap[bit >>> 5] as number) >>> (bit & 31)) & 1) === 1
}

function markGrams({ bytes, bitmap, gramMask }: AddressSet, at: number): void {
  let rolling = gramAt(bytes, at + GRAM_END_FIRST - 1)
  for (let end = at + GRAM_END_FIRST; end <= at + GRAM_END_LAST; end++) {
    rolling = (rolling << 8) | (bytes[end] as number)
    const gram = rolling & gramMask
    bitmap[gram >>> 5] = (bitmap[gram >>> 5] as number) | (1 << (gram & 31))
  }
}

function gramAt(bytes: Uint8Array, end: number): number {
  return (
    ((bytes[end - 2] as number) << 16) | ((bytes[end - 1] as number) << 8) | (bytes[end] as number)
  )
}

/** The slot that holds the address, or the empty one where it belongs. */
function slotFor(set: AddressSet, bytes: Uint8Array, at: number): number {
  const mask = set.slots.length - 1
  let slot = hashAt(bytes, at) & mask
  for (;;) {
    const entry = set.slots[slot] as number
    if (entry === 0 || sameAddress(set.bytes, (entry - 1) * ADDRESS_BYTES, bytes, at)) return slot
    slot = (slot + 1) & mask
  }
}

/** Hashes all 20 bytes: entries that share their grams must not share a chain. */
function hashAt(bytes: Uint8Array, at: number): number {
  let hash = 0
  for (let i = at; i < at + ADDRESS_BYTES; i += 4) {
    const word =
      ((bytes[i] as number) << 24) |
      ((bytes[i + 1] as number) << 16) |
      ((bytes[i + 2] as number) << 8) |
      (bytes[i + 3] as number)
    hash = Math.imul(hash ^ word, 0x9e3779b1)
    hash ^= hash >>> 15
  }
  return hash >>> 0
}

function sameAddress(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  for (let i = 0; i < ADDRESS_BYTES; i++) if (a[aAt + i] !== b[bAt + i]) return false
  return true
}

function sizeOf(gramBits: number, slotCount: number, capacity: number): number {
  return HEADER_BYTES + 2 ** gramBits / 8 + slotCount * 4 + capacity * (2 + ADDRESS_BYTES)
}

function viewOf(
  buffer: SharedArrayBuffer,
  gramBits: number,
  slotCount: number,
  capacity: number,
): AddressSet {
  const slotsAt = HEADER_BYTES + 2 ** gramBits / 8
  const listsAt = slotsAt + slotCount * 4
  return {
    buffer,
    size: capacity,
    gramMask: 2 ** gramBits - 1,
    bitmap: new Uint32Array(buffer, HEADER_BYTES, 2 ** gramBits / 32),
    slots: new Uint32Array(buffer, slotsAt, slotCount),
    listIndex: new Uint16Array(buffer, listsAt, capacity),
    bytes: new Uint8Array(buffer, listsAt + capacity * 2),
  }
}
