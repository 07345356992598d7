import { CHAIN_IDS } from '../domain/chains.js'
import type { Address } from '../domain/ids.js'
import { keccak256 } from '../domain/keccak.js'
import type { Faults } from './json-reader.js'
import { type Token, UINT256_MAX } from './policy.js'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const DECIMAL = /^(?:0|[1-9]\d*)$/
/** Of 2^256 − 1 */
const UINT_DIGITS_MAX = 78
const encoder = new TextEncoder()

/** In any case; one in mixed case must have the right checksum (EIP-55). */
export function readAddress(value: unknown, path: string, faults: Faults): Address | null {
  if (typeof value !== 'string' || !ADDRESS.test(value)) {
    return faults.report(path, 'must be an address')
  }
  const lower = value.toLowerCase() as Address
  const digits = value.slice(2)
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (isMixed && !isChecksummed(digits)) return faults.report(path, 'has a wrong checksum')
  return lower
}

export function readToken(value: unknown, path: string, faults: Faults): Token | null {
  return value === 'native' ? 'native' : readAddress(value, path, faults)
}

export function readChain(value: unknown, path: string, faults: Faults): number | null {
  const found = CHAIN_IDS.find((id) => id === value)
  return found ?? faults.report(path, `must be one of ${CHAIN_IDS.join(', ')}`)
}

export function readUint(value: unknown, path: string, faults: Faults): bigint | null {
  const isDecimal =
    typeof value === 'string' && value.length <= UINT_DIGITS_MAX && DECIMAL.test(value)
  const amount = isDecimal ? BigInt(value) : null
  if (amount !== null && amount <= UINT256_MAX) return amount
  return faults.report(path, 'must be a whole number as a decimal string')
}

function isChecksummed(digits: string): boolean {
  const hash = keccak256(encoder.encode(digits.toLowerCase()))
  return [...digits].every((digit, at) => {
    const byte = hash[at >> 1] ?? 0
    const nibble = at % 2 === 0 ? byte >> 4 : byte & 15
    return digit === (nibble >= 8 ? digit.toUpperCase() : digit.toLowerCase())
  })
}
