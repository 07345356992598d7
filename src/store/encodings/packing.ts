import { asBinary } from 'lmdb'
import { Packr } from 'msgpackr'
import type { Hex } from '../../domain/ids.js'

/** Money is bigint of any size, and comes back as bigint; numbers come back as numbers. */
export const RECORD_ENCODER = {
  useRecords: false,
  useBigIntExtension: true,
  int64AsType: 'bigint',
} as const

/** A value of the store that is encoded already. */
export type Binary = ReturnType<typeof asBinary>

const packr = new Packr(RECORD_ENCODER)

/** @returns what the store's own encoder would write, to be put as it is */
export function packedBinary(value: unknown): Binary {
  return asBinary(packr.pack(value))
}

/** @returns MessagePack of `value`; the bytes stay as they are */
export function packed(value: unknown): Uint8Array {
  return packr.pack(value)
}

/** MessagePack, "Array format family": a list of two. */
const PAIR = 0x92

/** @returns what the store's own encoder would write for the list of these two */
export function packedPair(first: Uint8Array, second: Uint8Array): Binary {
  const out = Buffer.allocUnsafe(1 + first.length + second.length)
  out[0] = PAIR
  out.set(first, 1)
  out.set(second, 1 + first.length)
  return asBinary(out)
}

/** Bytes, which take half of the room; up to schema 5 the text. */
export type StoredHex = Uint8Array | Hex

/** @param hex lower-case, as all that is made here; what is not whole bytes stays a text */
export function storedHex(hex: Hex): StoredHex {
  const bytes = Buffer.from(hex.slice(2), 'hex')
  return bytes.length * 2 + 2 === hex.length ? bytes : hex
}

let lastHash: { readonly hex: Hex; readonly stored: StoredHex } = { hex: '0x', stored: '0x' }

/** The same of a block's hash, which a node gave and many transactions in a row have. */
export function storedBlockHash(hex: Hex): StoredHex {
  if (lastHash.hex === hex) return lastHash.stored
  const stored = storedHex(hex)
  lastHash = { hex, stored: hexOf(stored) === hex ? stored : hex }
  return lastHash.stored
}

export function hexOf(stored: StoredHex): Hex {
  if (typeof stored === 'string') return stored
  const { buffer, byteOffset, length } = stored
  return `0x${Buffer.from(buffer, byteOffset, length).toString('hex')}`
}
