import type { Address } from '../domain/ids.js'
import { keccak256 } from '../domain/keccak.js'

/**
 * EIP-55: the case of each hex letter encodes one bit of the keccak-256 of the address in lower
 * case, so that a mistyped address is caught before money goes there.
 */

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const HEX_DIGITS = 40
const ASCII_A_LOWER = 97

const ascii = new Uint8Array(HEX_DIGITS)

/** The same addresses are paid repeatedly. 400 bytes each; the cache is emptied when it is full. */
const CHECKSUMMED_MAX = 4_096
const checksummed = new Map<string, Address>()

/**
 * @param text 0x and 40 hex digits in any case
 * @throws RangeError for any other text
 */
export function toChecksumAddress(text: string): Address {
  const known = checksummed.get(text)
  if (known !== undefined) return known
  if (!ADDRESS.test(text)) throw new RangeError('not an EVM address')
  const address = checksumOf(text)
  if (checksummed.size >= CHECKSUMMED_MAX) checksummed.clear()
  checksummed.set(text, address)
  return address
}

function checksumOf(text: string): Address {
  const lower = text.slice(2).toLowerCase()
  for (let i = 0; i < HEX_DIGITS; i++) ascii[i] = lower.charCodeAt(i)
  const hash = keccak256(ascii)
  let out = '0x'
  for (let i = 0; i < HEX_DIGITS; i++) {
    const nibble = ((hash[i >> 1] ?? 0) >> (i % 2 === 0 ? 4 : 0)) & 15
    const char = lower.charAt(i)
    out += nibble >= 8 && lower.charCodeAt(i) >= ASCII_A_LOWER ? char.toUpperCase() : char
  }
  return out as Address
}

/**
 * False only for a mixed-case address whose case is not its EIP-55 checksum. Text that is not an
 * address passes: another check refuses its form, and one complaint is enough.
 */
export function hasPlausibleChecksum(text: string): boolean {
  if (!ADDRESS.test(text)) return true
  const digits = text.slice(2)
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true
  return toChecksumAddress(text) === text
}
