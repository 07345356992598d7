/**
 * The first layer: every byte offset of the calldata is compared with the lists, whatever the
 * calldata means. It sees what no decoder knows: packed, unaligned, left-aligned and nested forms,
 * unknown functions, and addresses spelt out in ASCII.
 */
import { ADDRESS_BYTES } from './address-bytes.js'
import { type AddressSet, findEntry, KEY_LAST_BYTE } from './address-set.js'

/** The EVM reads zeros past the end, so an address may end in bytes that are not there. */
export const SCAN_TAIL_BYTES = ADDRESS_BYTES - 1

const ASCII_CHARS = ADDRESS_BYTES * 2
/** Index, within the 40 characters, of the last one of the bitmap's key. */
const ASCII_KEY_LAST = KEY_LAST_BYTE * 2 + 1
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
  /** Where the address starts: a byte offset of the calldata. */
  readonly offset: number
  readonly form: 'bytes' | 'ascii'
}

/** Decides whether an entry that was found counts as a hit; else the scan goes on. */
export type Counts = (entry: number) => boolean

/**
 * Finds the first listed address in calldata, as bytes or as ASCII hex.
 * @param data at least `length` + SCAN_TAIL_BYTES bytes, zeros behind `length`
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
  const { bitmap, keyMask } = set
  const stop = length + KEY_LAST_BYTE
  let key = ((data[KEY_LAST_BYTE - 2] as number) << 8) | (data[KEY_LAST_BYTE - 1] as number)
  for (let end = KEY_LAST_BYTE; end < stop; end++) {
    key = ((key << 8) | (data[end] as number)) & 0xffffff
    const masked = key & keyMask
    if ((((bitmap[masked >>> 5] as number) >>> (masked & 31)) & 1) === 0) continue
    const entry = findEntry(set, data, end - KEY_LAST_BYTE)
    if (entry >= 0 && counts(entry)) return { entry, offset: end - KEY_LAST_BYTE, form: 'bytes' }
  }
  return null
}

const decoded = new Uint8Array(ADDRESS_BYTES)

/**
 * Runs of 40 and more hex characters, at either parity. A run must cover one of the characters
 * 39, 79, 119 …, so looking at every fortieth skips what holds none.
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
  const { bitmap, keyMask } = set
  const stop = end - ASCII_CHARS + ASCII_KEY_LAST + 1
  let key = 0
  for (let at = start + ASCII_KEY_LAST - 5; at < stop; at++) {
    key = ((key << 4) | (NIBBLE[data[at] as number] as number)) & 0xffffff
    const first = at - ASCII_KEY_LAST
    const masked = key & keyMask
    if (first < start || (((bitmap[masked >>> 5] as number) >>> (masked & 31)) & 1) === 0) continue
    for (let i = 0; i < ADDRESS_BYTES; i++) {
      const high = NIBBLE[data[first + 2 * i] as number] as number
      decoded[i] = (high << 4) | (NIBBLE[data[first + 2 * i + 1] as number] as number)
    }
    const entry = findEntry(set, decoded, 0)
    if (entry >= 0 && counts(entry)) return { entry, offset: first, form: 'ascii' }
  }
  return null
}
