import { getAddress } from 'viem/utils'
import type { Approval } from '../contracts/functions/contract-function.js'
import type { Address, Hex } from '../domain/ids.js'
import { UINT256_MAX } from './well-known.js'

/** Calldata as the EVM reads it: past its end there are zeros, and addresses are their low bytes. */

const WORD_DIGITS = 64
const SELECTOR_DIGITS = 8

/**
 * The 32-byte argument word at `index` after a selector that starts at `selectorAt`.
 * Right-padded with zeros past the end, as CALLDATALOAD does: old tokens take short calldata.
 * @param digits hex without prefix
 * @param selectorAt index of the selector's first digit
 */
export function argumentWord(digits: string, selectorAt: number, index: number): bigint {
  const start = selectorAt + SELECTOR_DIGITS + index * WORD_DIGITS
  return BigInt(`0x${digits.slice(start, start + WORD_DIGITS).padEnd(WORD_DIGITS, '0')}`)
}

const ADDRESS_MASK = (1n << 160n) - 1n

/** The address in the low 20 bytes, whatever is above them: many contracts mask it away. */
export function addressOf(word: bigint): Address {
  return getAddress(`0x${(word & ADDRESS_MASK).toString(16).padStart(40, '0')}`)
}

/** Lower-case digits without prefix. */
export function digitsOf(hex: Hex): string {
  return hex.slice(2).toLowerCase()
}

/** The amount of a function of the table, smallest units. */
export function amountOf(amount: Approval['amount'], word: (index: number) => bigint): bigint {
  if (amount === 'all') return UINT256_MAX
  if (typeof amount === 'number') return word(amount)
  return word(amount.flag) === 0n ? 0n : UINT256_MAX
}
