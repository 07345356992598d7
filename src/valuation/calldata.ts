import { getAddress } from 'viem/utils'
import type { Approval } from '../contracts/functions/contract-function.js'
import type { Address, Hex } from '../domain/ids.js'
import { UINT256_MAX } from './well-known.js'

/**
 * Reads calldata as the EVM does: past its end there are zeros, and addresses are the low bytes of
 * words.
 */

const WORD_DIGITS = 64
const SELECTOR_DIGITS = 8

/**
 * The 32-byte argument word at `index` after a selector that starts at `selectorAt`. It is padded
 * with zeros past the end, as CALLDATALOAD does: old tokens accept short calldata.
 * @param digits hex without prefix
 * @param selectorAt index of the selector's first digit
 */
export function argumentWord(digits: string, selectorAt: number, index: number): bigint {
  const start = selectorAt + SELECTOR_DIGITS + index * WORD_DIGITS
  return BigInt(`0x${digits.slice(start, start + WORD_DIGITS).padEnd(WORD_DIGITS, '0')}`)
}

const ADDRESS_MASK = (1n << 160n) - 1n

/** The address in the low 20 bytes, whatever the bytes above: many contracts mask them. */
export function addressOf(word: bigint): Address {
  return getAddress(`0x${(word & ADDRESS_MASK).toString(16).padStart(40, '0')}`)
}

const ADDRESS_BYTES = 20

/**
 * The addresses among `addresses` that the calldata names, at any byte. One pass finds all of them:
 * the author of the calldata may have invented a thousand addresses, and words in which searching
 * for each would find nothing.
 */
export function namedIn(data: Hex, addresses: ReadonlySet<Address>): ReadonlySet<Address> {
  const named = new Set<Address>()
  if (addresses.size === 0) return named
  const wanted = new Map<string, Address>()
  /** Their last two bytes: this look-up skips nearly all positions. */
  const ends = new Uint8Array(1 << 16)
  for (const address of addresses) {
    const bytes = Buffer.from(address.slice(2), 'hex')
    ends[bytes.readUInt16BE(ADDRESS_BYTES - 2)] = 1
    wanted.set(bytes.toString('latin1'), address)
  }
  const bytes = Buffer.from(data.slice(2), 'hex')
  let end = 0
  for (let at = 0; at < bytes.length; at++) {
    end = ((end << 8) | (bytes[at] as number)) & 0xffff
    if (ends[end] === 0 || at < ADDRESS_BYTES - 1) continue
    const address = wanted.get(bytes.toString('latin1', at + 1 - ADDRESS_BYTES, at + 1))
    if (address !== undefined) named.add(address)
  }
  return named
}

const HALF_DIGITS = 4
const ZERO = 48
const LOWER_A = 97

/**
 * Finds some functions in calldata, at any byte: hand-made encodings need not be aligned. A look-up
 * of the selectors' first halves skips most positions.
 * @returns for digits without prefix: indexes of selectors' first digits, in order
 */
export function selectorSearch(
  selectors: ReadonlySet<string>,
): (digits: string) => readonly number[] {
  const firstHalves = new Uint8Array(1 << 16)
  for (const selector of selectors) {
    firstHalves[Number.parseInt(selector.slice(0, HALF_DIGITS), 16)] = 1
  }
  return (digits) => {
    const found: number[] = []
    let half = 0
    for (let at = 0; at + 1 < digits.length; at += 2) {
      half = ((half << 8) | byteAt(digits, at)) & 0xffff
      if (firstHalves[half] === 0 || at < 2) continue
      const from = at - 2
      if (selectors.has(digits.slice(from, from + SELECTOR_DIGITS))) found.push(from)
    }
    return found
  }
}

/** Reads a byte of lower-case digits. */
function byteAt(digits: string, at: number): number {
  return (digitOf(digits.charCodeAt(at)) << 4) | digitOf(digits.charCodeAt(at + 1))
}

function digitOf(code: number): number {
  return code < LOWER_A ? code - ZERO : code - LOWER_A + 10
}

/** Lower-case digits without prefix. */
export function digitsOf(hex: Hex): string {
  return hex.slice(2).toLowerCase()
}

/** The amount of a function of the table, in smallest units. */
export function amountOf(amount: Approval['amount'], word: (index: number) => bigint): bigint {
  if (amount === 'all') return UINT256_MAX
  if (typeof amount === 'number') return word(amount)
  return word(amount.flag) === 0n ? 0n : UINT256_MAX
}
