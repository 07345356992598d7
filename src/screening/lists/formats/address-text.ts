/** Finds EVM addresses in publishers' texts: single values, comma-packed ones, prose. */
import { createHash } from 'node:crypto'
import { getAddress } from 'viem/utils'
import { ADDRESS_BYTES } from '../../set/address-bytes.js'

/**
 * A prefix is required, because 40 bare hex digits may be a file hash or another chain's account.
 */
const EVM_ADDRESS = /(?<![0-9a-zA-Z])(?:0x|0X|xdc)([0-9a-fA-F]{40})(?![0-9a-zA-Z])/g
const TRON_ADDRESS = /(?<![0-9a-zA-Z])T[1-9A-HJ-NP-Za-km-z]{33}(?![0-9a-zA-Z])/g
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** The version byte of Tron's main network. */
const TRON_VERSION = 0x41
const TRON_BYTES = 1 + ADDRESS_BYTES + 4

interface FoundAddress {
  readonly bytes: Uint8Array
  readonly text: string
  /**
   * True for a mixed-case address whose EIP-55 checksum is wrong: the publisher mistyped it or
   * changed its case. It counts anyway, because possibly only the case is wrong.
   */
  readonly checksumWrong: boolean
}

export function evmAddressesIn(text: string): readonly FoundAddress[] {
  const found: FoundAddress[] = []
  for (const [whole, digits = ''] of text.matchAll(EVM_ADDRESS)) {
    const lower = digits.toLowerCase()
    const mixed = digits !== lower && digits !== digits.toUpperCase()
    const checksumWrong = mixed && getAddress(`0x${lower}`).slice(2) !== digits
    found.push({ bytes: Buffer.from(lower, 'hex'), text: whole, checksumWrong })
  }
  return found
}

/**
 * Tron accounts as EVM addresses: the same key has the same 20 bytes on both, so the holder of the
 * Tron account can hold the EVM one.
 */
export function tronAddressesIn(text: string): readonly FoundAddress[] {
  const found: FoundAddress[] = []
  for (const [whole] of text.matchAll(TRON_ADDRESS)) {
    const bytes = decodeTron(whole)
    if (bytes !== null) found.push({ bytes, text: whole, checksumWrong: false })
  }
  return found
}

/** Base58Check: version byte, 20 bytes, 4 bytes of double SHA-256. */
function decodeTron(text: string): Uint8Array | null {
  let value = 0n
  for (const char of text) value = value * 58n + BigInt(BASE58.indexOf(char))
  const hex = value.toString(16).padStart(TRON_BYTES * 2, '0')
  const decoded = Buffer.from(hex, 'hex')
  if (decoded.length !== TRON_BYTES || decoded[0] !== TRON_VERSION) return null
  const payload = decoded.subarray(0, 1 + ADDRESS_BYTES)
  const hash = createHash('sha256').update(createHash('sha256').update(payload).digest()).digest()
  return hash.subarray(0, 4).equals(decoded.subarray(1 + ADDRESS_BYTES))
    ? decoded.subarray(1, 1 + ADDRESS_BYTES)
    : null
}
