import { CHAIN_IDS } from '../domain/chains.js'
import type { Address } from '../domain/ids.js'
import { keccak256 } from '../domain/keccak.js'
import { parseUsd, type UsdMicros } from '../domain/money.js'
import { UINT256_MAX } from './bounds.js'
import type { Token } from './call-terms.js'
import type { Faults } from './json-reader.js'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const DECIMAL = /^(?:0|[1-9]\d*)$/
/** The digits of 2^256 − 1. */
const UINT_DIGITS_MAX = 78
const encoder = new TextEncoder()

/** Reads an address in any case; one in mixed case must have the right checksum (EIP-55). */
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

export function readUsd(value: unknown, path: string, faults: Faults): UsdMicros | null {
  const micros = typeof value === 'string' ? parseUsd(value) : null
  return micros ?? faults.report(path, 'must be USD as a decimal string, like "12.5"')
}

export function readBoolean(value: unknown, path: string, faults: Faults): boolean | null {
  return typeof value === 'boolean' ? value : faults.report(path, 'must be true or false')
}

/** Makes the reader of a set: order and repetitions have no meaning. */
export function listOf<T extends string | number>(
  read: (value: unknown, path: string, faults: Faults) => T | null,
  max: number,
): (value: unknown, path: string, faults: Faults) => T[] | null {
  return (value, path, faults) => {
    const element = (one: unknown, at: string) => read(one, at, faults)
    const elements = faults.list(value, path, { min: 1, max }, element)
    return elements === null ? null : sortedSet(elements)
  }
}

function sortedSet<T extends string | number>(values: readonly T[]): T[] {
  return [...new Set(values)].sort((a, b) => (a < b ? -1 : Number(a > b)))
}

function isChecksummed(digits: string): boolean {
  const hash = keccak256(encoder.encode(digits.toLowerCase()))
  return [...digits].every((digit, at) => {
    const byte = hash[at >> 1] ?? 0
    const nibble = at % 2 === 0 ? byte >> 4 : byte & 15
    return digit === (nibble >= 8 ? digit.toUpperCase() : digit.toLowerCase())
  })
}
