import type { Hex } from '../../domain/ids.js'
import type { Codec } from './codec.js'

/** Bytes, which take half of the room, where the text is of whole ones. */
export type StoredHex = Uint8Array | Hex

/** @param hex lower-case, as all that is made here; what is not whole bytes stays a text */
function storedHex(hex: Hex): StoredHex {
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

const fromStored = (stored: unknown) => hexOf(stored as StoredHex)

/** Lower-case hexadecimal, as all that is made here. */
export const hexText: Codec<Hex> = { encode: storedHex, decode: fromStored }

/** The hash of a block. */
export const blockHashText: Codec<Hex> = { encode: storedBlockHash, decode: fromStored }
