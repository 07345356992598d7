import { concatHex, getAddress } from 'viem/utils'
import type { Address, Hex } from '../domain/ids.js'

/**
 * The code of a delegated account (EIP-7702): a 3-byte designator and the delegate's address. As a
 * state override it makes a node simulate an account as if it had already delegated.
 */
const DESIGNATOR: Hex = '0xef0100'

/** Code of an account that delegates to `delegate`. */
export function delegationCode(delegate: Address): Hex {
  return concatHex([DESIGNATOR, delegate])
}

/**
 * The address that an account's code delegates to; null for a plain account and for a contract.
 * @param code the answer of `eth_getCode`; undefined or `0x` for no code
 */
export function delegateOf(code: Hex | undefined): Address | null {
  if (code?.length !== 48 || !code.startsWith(DESIGNATOR)) return null
  return getAddress(`0x${code.slice(DESIGNATOR.length)}`)
}
