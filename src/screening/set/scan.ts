/**
 * The first layer: every byte offset of the calldata is compared with the lists, whatever the
 * calldata means. It finds what no decoder knows: packed, unaligned, left-aligned and nested forms,
 * unknown functions, and addresses written in ASCII.
 *
 * It reads the bitmap only at every GRAMS_PER_ENTRY-th byte: an address at any offset has one of
 * its marked grams there. At a marked gram, all addresses that it may be part of are looked up. The
 * loops that find the next such place call no function, because they would run at half the speed.
 */
import { ADDRESS_BYTES } from './address-bytes.js'
import {
  type AddressSet,
  findEntry,
  GRAM_END_FIRST,
  GRAM_END_LAST,
  GRAMS_PER_ENTRY,
  isMarked,
} from './address-set.js'

/** The EVM reads zeros past the end, so an address may end in bytes that are not there. */
export const SCAN_TAIL_BYTES = ADDRESS_BYTES - 1

const ASCII_CHARS = ADDRESS_BYTES * 2
/**
 * Indexes, within the 40 characters, of the last character of the first gram and of the last gram.
 */
const ASCII_GRAM_END_FIRST = GRAM_END_FIRST * 2 + 1
const ASCII_GRAM_END_LAST = GRAM_END_LAST * 2 + 1
const ASCII_STRIDE = GRAMS_PER_ENTRY * 2
const NOT_HEX = 255

const NIBBLE = new Uint8Array(256).fill(NOT_HEX)
for (let i = 0; i < 10; i++) NIBBLE[48 + i] = i
for (let i = 0; i < 6; i++) {
  NIBBLE[65 + i] = 10 + i
  NIBBLE[97 + i] = 10 + i
}

export interface ScanHit {
  /** Entry index in the set. */
  readonly entry: number
  /** The start of the address: a byte offset of the calldata. */
  readonly offset: number
  readonly form: 'bytes' | 'ascii'
}

/** Decides whether a found entry counts as a hit; otherwise the scan continues. */
export type Counts = (entry: number) => boolean

/**
 * Finds the first listed address in calldata, as bytes or as ASCII hex.
 * @param data at least `length` + SCAN_TAIL_BYTES bytes, zeros after `length`
 * @param length bytes of calldata
 */
export function scanCalldata(
  set: AddressSet,
  data: Uint8Array,
  length: number,
  counts: Counts,
): ScanHit | null {
  if (set.size === 0 || length === 0) return null
  return scanBytes(set, data, length, counts) ?? scanAscii(set, data, length, counts)
}

function scanBytes(
  set: AddressSet,
  data: Uint8Array,
  length: number,
  counts: Counts,
): ScanHit | null {
  const stop = length + GRAM_END_LAST
  let end = nextGram(set, data, GRAM_END_FIRST, stop)
  while (end < stop) {
    const last = Math.min(end - GRAM_END_FIRST, length - 1)
    for (let at = Math.max(end - GRAM_END_LAST, 0); at <= last; at++) {
      const entry = findEntry(set, data, at)
      if (entry >= 0 && counts(entry)) return { entry, offset: at, form: 'bytes' }
    }
    end = nextGram(set, data, end + GRAMS_PER_ENTRY, stop)
  }
  return null
}

/** The first place in steps from `end` where a marked gram ends; `stop` or more without one. */
function nextGram(
  { bitmap, gramMask }: AddressSet,
  data: Uint8Array,
  end: number,
  stop: number,
): number {
  for (; end < stop; end += GRAMS_PER_ENTRY) {
    const high = ((data[end - 2] as number) << 16) | ((data[end - 1] as number) << 8)
    const gram = (high | (data[end] as number)) & gramMask
    if ((((bitmap[gram >>> 5] as number) >>> (gram & 31)) & 1) === 1) return end
  }
  return end
}

const decoded = new Uint8Array(ADDRESS_BYTES)

/**
 * Finds runs of 40 and more hex characters, at either parity. A run must cover one of the
 * characters 39, 79, 119 …, so reading every fortieth character skips the rest.
 */
function scanAscii(
  set: AddressSet,
  data: Uint8Array,
  length: number,
  counts: Counts,
): ScanHit | null {
  let probe = ASCII_CHARS - 1
  while (probe < length) {
    if (NIBBLE[data[probe] as number] === NOT_HEX) {
      probe += ASCII_CHARS
      continue
    }
    let start = probe
    while (start > 0 && NIBBLE[data[start - 1] as number] !== NOT_HEX) start--
    let end = probe + 1
    while (end < length && NIBBLE[data[end] as number] !== NOT_HEX) end++
    if (end - start >= ASCII_CHARS) {
      const hit = scanRun(set, data, start, end, counts)
      if (hit !== null) return hit
    }
    probe = end + ASCII_CHARS
  }
  return null
}

function scanRun(
  set: AddressSet,
  data: Uint8Array,
  start: number,
  end: number,
  counts: Counts,
): ScanHit | null {
  for (let parity = 0; parity < 2; parity++) {
    let at = nextAsciiGram(set, data, start + ASCII_GRAM_END_FIRST + parity, end)
    while (at < end) {
      const last = Math.min(at - ASCII_GRAM_END_FIRST, end - ASCII_CHARS)
      const earliest = at - ASCII_GRAM_END_FIRST - ASCII_STRIDE + 2
      for (let first = Math.max(earliest, start + parity); first <= last; first += 2) {
        if (!isMarked(set, asciiGramAt(data, first + ASCII_GRAM_END_LAST))) continue
        if (!isMarked(set, asciiGramAt(data, first + ASCII_GRAM_END_FIRST))) continue
        for (let i = 0; i < ADDRESS_BYTES; i++) decoded[i] = byteAt(data, first + 2 * i)
        const entry = findEntry(set, decoded, 0)
        if (entry >= 0 && counts(entry)) return { entry, offset: first, form: 'ascii' }
      }
      at = nextAsciiGram(set, data, at + ASCII_STRIDE, end)
    }
  }
  return null
}

/** Does the same as `nextGram`, over hex characters. */
function nextAsciiGram(
  { bitmap, gramMask }: AddressSet,
  data: Uint8Array,
  at: number,
  stop: number,
): number {
  for (; at < stop; at += ASCII_STRIDE) {
    const gram = asciiGramAt(data, at) & gramMask
    if ((((bitmap[gram >>> 5] as number) >>> (gram & 31)) & 1) === 1) return at
  }
  return at
}

function asciiGramAt(data: Uint8Array, end: number): number {
  const high = (byteAt(data, end - 5) << 16) | (byteAt(data, end - 3) << 8)
  return high | byteAt(data, end - 1)
}

/** The byte that two hex characters at `at` represent. */
function byteAt(data: Uint8Array, at: number): number {
  return ((NIBBLE[data[at] as number] as number) << 4) | (NIBBLE[data[at + 1] as number] as number)
}
