import { Packr } from 'msgpackr'

/**
 * Writes MessagePack byte for byte as msgpackr does, which reads it; rare values are left to
 * msgpackr. A send creates eight records with some two hundred values, and msgpackr would take a
 * fifth of its thread's time for them: it tests bytes against seven classes, and compares a bigint
 * with a number.
 */

/** Money is a bigint of any size and is read as bigint; numbers are read as numbers. */
export const RECORD_ENCODER = {
  useRecords: false,
  useBigIntExtension: true,
  int64AsType: 'bigint',
} as const

const rare = new Packr(RECORD_ENCODER)

/**
 * Records are written one after another into a block. A block stays in memory as long as one of its
 * records does, that is, until it is on disk. LMDB asks once for the address of each block.
 */
const BLOCK_BYTES = 65_536

/** Most records are shorter than this, so few are begun in one block and moved to the next. */
const RECORD_BYTES = 1_024

/** Bytes of a value of fixed length, including its first byte. */
const SCALAR_BYTES = 9
/** Bytes of the head of a string, list, map or byte array: the first byte and the length. */
const HEAD_BYTES = 5
/** Bytes of one UTF-16 code unit in UTF-8. */
const CHAR_BYTES_MAX = 3
/**
 * Node writes longer texts. For a short one it takes as long as a loop over this many characters.
 */
const LOOPED_CHARS_MAX = 20

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

let block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
let view = new DataView(block.buffer)
/** Offset at which the current record begins. */
let start = 0
/** Offset at which the next record begins. */
let next = 0

/**
 * @returns MessagePack of `value` after `reserved` free bytes; later records do not overwrite it
 */
export function packedBehind(reserved: number, value: unknown): Buffer {
  return ended(write(value, begun(reserved)))
}

/** The same for a list of two. @param second is MessagePack already */
export function packedPairBehind(reserved: number, first: unknown, second: Uint8Array): Buffer {
  const at = begun(reserved)
  block[at] = 0x92
  return ended(copied(second, write(first, at + 1)))
}

function begun(reserved: number): number {
  if (next + RECORD_BYTES > block.length) {
    replaceBlock(BLOCK_BYTES)
    next = 0
  }
  start = next
  return start + reserved
}

function ended(at: number): Buffer {
  // Records are aligned, so that a checksum reads whole words.
  next = (at + 7) & ~7
  return block.subarray(start, at)
}

function replaceBlock(length: number): void {
  block = Buffer.allocUnsafeSlow(length)
  view = new DataView(block.buffer)
}

function makeRoom(at: number, bytes: number): void {
  if (at + bytes <= block.length) return
  const before = block
  replaceBlock(2 * (at + bytes))
  block.set(before.subarray(start, at), start)
}

/** @returns the offset of the next value */
function write(value: unknown, at: number): number {
  if (typeof value === 'string') return writeString(value, at)
  makeRoom(at, SCALAR_BYTES)
  if (typeof value === 'number') return writeNumber(value, at)
  if (value === null) {
    block[at] = 0xc0
    return at + 1
  }
  if (typeof value === 'bigint') return writeBigint(value, at)
  if (typeof value === 'object') return writeObject(value, at)
  if (typeof value !== 'boolean') return writeRare(value, at)
  block[at] = value ? 0xc3 : 0xc2
  return at + 1
}

function writeObject(value: object, at: number): number {
  if (Array.isArray(value)) return writeList(value, at)
  if (value instanceof Uint8Array) return copied(value, writeHead(BYTES, value.length, at))
  return Object.getPrototypeOf(value) === Object.prototype
    ? writeMap(value as Readonly<Record<string, unknown>>, at)
    : writeRare(value, at)
}

function writeList(values: readonly unknown[], at: number): number {
  let to = writeHead(LIST, values.length, at)
  for (let i = 0; i < values.length; i++) to = write(values[i], to)
  return to
}

/** The length has 16 bits, as msgpackr writes it, which does not know it in advance. */
function writeMap(value: Readonly<Record<string, unknown>>, at: number): number {
  const names = Object.keys(value)
  if (names.length > 0xffff || typeof value.toJSON === 'function') return writeRare(value, at)
  block[at] = 0xde
  view.setUint16(at + 1, names.length)
  let to = at + 3
  for (const name of names) to = write(value[name], write(name, to))
  return to
}

function writeString(text: string, at: number): number {
  const { length } = text
  makeRoom(at, HEAD_BYTES + length * CHAR_BYTES_MAX)
  if (length >= 0x100) return writeLong(text, at)
  const bytes = block
  const to = at + (length < 0x20 ? 1 : 2)
  if (length > LOOPED_CHARS_MAX) {
    if (bytes.write(text, to) !== length) return writeLong(text, at)
  } else {
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      if (code >= 0x80) return writeLong(text, at)
      bytes[to + i] = code
    }
  }
  if (length < 0x20) bytes[at] = 0xa0 | length
  else {
    bytes[at] = 0xd9
    bytes[at + 1] = length
  }
  return to + length
}

/** Writes a text that is long or has characters of more than one byte. */
function writeLong(text: string, at: number): number {
  const length = Buffer.byteLength(text)
  const to = writeHead(TEXT, length, at)
  block.write(text, to)
  return to + length
}

/** First bytes by length: up to `fixed` the first byte holds it, otherwise 8, 16 or 32 bits do. */
interface Head {
  readonly fixed: number
  readonly first: number
  readonly of8: number | null
  readonly of16: number
  readonly of32: number
}

const TEXT: Head = { fixed: 0x20, first: 0xa0, of8: 0xd9, of16: 0xda, of32: 0xdb }
const LIST: Head = { fixed: 0x10, first: 0x90, of8: null, of16: 0xdc, of32: 0xdd }
const BYTES: Head = { fixed: 0, first: 0, of8: 0xc4, of16: 0xc5, of32: 0xc6 }

function writeHead({ fixed, first, of8, of16, of32 }: Head, length: number, at: number): number {
  if (length < fixed) {
    block[at] = first | length
    return at + 1
  }
  if (of8 !== null && length < 0x100) {
    block[at] = of8
    block[at + 1] = length
    return at + 2
  }
  if (length < 0x10000) {
    block[at] = of16
    view.setUint16(at + 1, length)
    return at + 3
  }
  block[at] = of32
  view.setUint32(at + 1, length)
  return at + 5
}

function writeNumber(value: number, at: number): number {
  if (value >>> 0 === value) {
    if (value < 0x80) {
      block[at] = value
      return at + 1
    }
    if (value < 0x100) {
      block[at] = 0xcc
      block[at + 1] = value
      return at + 2
    }
    if (value < 0x10000) {
      block[at] = 0xcd
      view.setUint16(at + 1, value)
      return at + 3
    }
    block[at] = 0xce
    view.setUint32(at + 1, value)
    return at + 5
  }
  if (value >> 0 === value) return writeRare(value, at)
  block[at] = 0xcb
  view.setFloat64(at + 1, value)
  return at + 9
}

function writeBigint(value: bigint, at: number): number {
  if (value > INT64_MAX || value < INT64_MIN) return writeRare(value, at)
  block[at] = 0xd3
  view.setBigInt64(at + 1, value)
  return at + 9
}

function writeRare(value: unknown, at: number): number {
  return copied(rare.pack(value), at)
}

function copied(bytes: Uint8Array, at: number): number {
  makeRoom(at, bytes.length)
  block.set(bytes, at)
  return at + bytes.length
}
