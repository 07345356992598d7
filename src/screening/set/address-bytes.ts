import type { Address } from '../../domain/ids.js'

/** Bytes of an EVM address. */
export const ADDRESS_BYTES = 20

const LISTED_TEXT = /^(?:0x|0X|xdc)?([0-9a-fA-F]{40})$/

/**
 * Reads an address in the forms that lists use: with `0x`, bare, or with the XDC prefix, in any
 * case.
 * @returns 20 bytes, or null when the text is not an address
 */
export function parseListedAddress(text: string): Uint8Array | null {
  const digits = LISTED_TEXT.exec(text.trim())?.[1]
  return digits === undefined ? null : Buffer.from(digits, 'hex')
}

/** Lower-case `0x…` of the 20 bytes at `offset`; zeros replace bytes past the end. */
export function addressTextAt(bytes: Uint8Array, offset: number): Address {
  let text = '0x'
  for (let i = 0; i < ADDRESS_BYTES; i++) {
    text += (bytes[offset + i] ?? 0).toString(16).padStart(2, '0')
  }
  return text as Address
}

/**
 * Writes an address into `target`.
 * @returns false when `text` is not an address; `target` is then undefined
 */
export function writeAddress(text: string, target: Uint8Array): boolean {
  if (text.length !== 42) return false
  let malformed = 0
  for (let i = 0; i < ADDRESS_BYTES; i++) {
    const high = nibble(text.charCodeAt(2 + 2 * i))
    const low = nibble(text.charCodeAt(3 + 2 * i))
    malformed |= high | low
    target[i] = (high << 4) | low
  }
  return (malformed & ~15) === 0 && (text.charCodeAt(1) | 32) === 120 && text.charCodeAt(0) === 48
}

/** The value of a hex digit's character code, or 256 for other characters. */
function nibble(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const folded = code | 32
  return code < 128 && folded >= 97 && folded <= 102 ? folded - 87 : 256
}
