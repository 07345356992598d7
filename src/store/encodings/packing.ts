import type { Hex } from '../../domain/ids.js'
import type { Codec } from './codec.js'

/** Bytes take half the space of text. A text that is not whole bytes stays a text. */
export type StoredHex = Uint8Array | Hex

/**
 * @param hex lower-case, as all hex that this service creates; what is not whole bytes stays a text
 */
function storedHex(hex: Hex): StoredHex {
  const bytes = Buffer.from(hex.slice(2), 'hex')
  return bytes.length * 2 + 2 === hex.length ? bytes : hex
}

let lastHash: { readonly hex: Hex; readonly stored: StoredHex } = { hex: '0x', stored: '0x' }

/** Encodes a block's hash, which comes from a node; many transactions in a row share it. */
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

const fromStored = (stored: unknown) => hexOf(stored as StoredHex)

/** Lower-case hex, as all hex that this service creates. */
export const hexText: Codec<Hex> = { encode: storedHex, decode: fromStored }

/** Codec of a block's hash. */
export const blockHashText: Codec<Hex> = { encode: storedBlockHash, decode: fromStored }
