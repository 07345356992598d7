/**
 * Refuses list entries that would stop honest calls. Public lists have held an entry of mostly
 * zeros, which occurs in any padding, and tokens that half the chain uses; one such entry stops
 * every write of the service.
 */
import { ADDRESS_BYTES } from '../set/address-bytes.js'

export type EntryFault = 'malformed' | 'zero-or-precompile' | 'low-entropy' | 'infrastructure'

/**
 * Grinding this many given bytes costs 2^80 hashes: such an entry is padding or a constant, not an
 * account.
 */
const PADDING_BYTES_MIN = 10
/**
 * An address with only two different byte values is a pattern or a constant such as 0xEeee…EEeE.
 */
const DISTINCT_BYTES_MAX_REFUSED = 2
/** Addresses up to 0xffff are precompiles, system contracts and routers' sentinels. */
const RESERVED_LEADING_ZEROS = 18

/**
 * @param entry 20 bytes
 * @param isProtected true for our own contracts and known infrastructure
 * @returns why the entry is refused, or null
 */
export function entryFault(
  entry: Uint8Array,
  isProtected: (entry: Uint8Array) => boolean,
): EntryFault | null {
  if (entry.length !== ADDRESS_BYTES) return 'malformed'
  if (entry.subarray(0, RESERVED_LEADING_ZEROS).every((byte) => byte === 0)) {
    return 'zero-or-precompile'
  }
  let padding = 0
  for (const byte of entry) if (byte === 0 || byte === 255) padding++
  if (padding >= PADDING_BYTES_MIN || new Set(entry).size <= DISTINCT_BYTES_MAX_REFUSED) {
    return 'low-entropy'
  }
  return isProtected(entry) ? 'infrastructure' : null
}
