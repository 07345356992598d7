import { Refusal } from './refusal.js'

/**
 * Fixed-width binary fields: big-endian integers and byte strings, read strictly. Every hashed or
 * signed record of the protocol is written and read only through this module, so that two different
 * records can never have the same bytes.
 */
export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** @throws Refusal MALFORMED when fewer than `length` bytes are left */
  take(length: number): Uint8Array {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new Refusal('MALFORMED', 'record too short')
    const out = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return out
  }

  u8(): number {
    return this.#integer(1)
  }

  u16(): number {
    return this.#integer(2)
  }

  u32(): number {
    return this.#integer(4)
  }

  /** @throws Refusal MALFORMED above 2^53 - 1, which no counter or time reaches */
  u64(): number {
    const value = this.#integer(8)
    if (!Number.isSafeInteger(value)) throw new Refusal('MALFORMED', 'integer too large')
    return value
  }

  u256(): bigint {
    return bigintOf(this.take(32))
  }

  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at)
  }

  /** @throws Refusal MALFORMED when bytes are left over */
  end(): void {
    if (this.#at !== this.#bytes.length) throw new Refusal('MALFORMED', 'trailing bytes')
  }

  #integer(length: number): number {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new Refusal('MALFORMED', 'record too short')
    let value = 0
    for (let at = this.#at; at < end; at++) value = value * 256 + (this.#bytes[at] ?? 0)
    this.#at = end
    return value
  }
}

/** A number holds this many bytes exactly; more are written from a string of digits. */
const EXACT_BYTES = 6

export function concat(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts)
}

/**
 * Returns memory for bytes that are hashed at once: the next caller overwrites it. Each signature
 * hashes messages of some hundred bytes that are not needed afterwards.
 */
export function scratch(length: number): Buffer {
  return length <= SCRATCH.length ? SCRATCH.subarray(0, length) : Buffer.allocUnsafe(length)
}

const SCRATCH = Buffer.allocUnsafeSlow(4_096)

export function u8(value: number): Uint8Array {
  const out = Buffer.allocUnsafe(1)
  out.writeUInt8(value)
  return out
}

export function u16(value: number): Uint8Array {
  const out = Buffer.allocUnsafe(2)
  out.writeUInt16BE(value)
  return out
}

export function u32(value: number): Uint8Array {
  const out = Buffer.allocUnsafe(4)
  out.writeUInt32BE(value)
  return out
}

/** @throws RangeError above 2^53 - 1 */
export function u64(value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not a 53-bit integer')
  const out = Buffer.allocUnsafe(8)
  out.writeUInt32BE(Math.floor(value / 2 ** 32), 0)
  out.writeUInt32BE(value % 2 ** 32, 4)
  return out
}

/** @throws RangeError when the value is negative or wider than 256 bits */
export function u256(value: bigint): Uint8Array {
  if (value < 0n || value >> 256n !== 0n) throw new RangeError('not a 256-bit integer')
  const out = Buffer.allocUnsafe(32)
  // Amounts and fees usually fit the last eight bytes, which needs no string of digits.
  if (value < 2n ** 64n) out.fill(0, 0, 24).writeBigUInt64BE(value, 24)
  else out.write(value.toString(16).padStart(64, '0'), 'hex')
  return out
}

export function bigintOf(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n
  if (bytes.length > EXACT_BYTES) return BigInt(`0x${viewOf(bytes).toString('hex')}`)
  let value = 0
  for (const byte of bytes) value = value * 256 + byte
  return BigInt(value)
}

/** Returns the same memory as a Buffer, for its methods. */
export function viewOf(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** For public data only: the time that it takes depends on the bytes. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

export function isZero(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0) return false
  return true
}

/** @throws Refusal MALFORMED when `value` is not bytes of that length (any length without one) */
export function expectBytes(value: unknown, length?: number): Uint8Array {
  if (!(value instanceof Uint8Array) || (length !== undefined && value.length !== length)) {
    throw new Refusal('MALFORMED', 'bytes expected')
  }
  return value
}

/** @throws Refusal MALFORMED when `value` is not an integer from 0 to 2^53 - 1 */
export function expectInteger(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new Refusal('MALFORMED', 'integer expected')
  }
  return value
}

/** @throws Refusal MALFORMED when `value` is not a list of at most `lengthMax` items */
export function expectList(value: unknown, lengthMax: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length > lengthMax) {
    throw new Refusal('MALFORMED', 'bounded list expected')
  }
  return value
}
