import { type ByteReader, u16 } from './bytes.js'

/**
 * Prefixes the bytes with their length in 16 bits.
 * @throws RangeError above 64 KiB
 */
export function sized(bytes: Uint8Array): [Uint8Array, Uint8Array] {
  return [u16(bytes.length), bytes]
}

export function takeSized(reader: ByteReader): Uint8Array {
  return reader.take(reader.u16())
}
