import type { Address, Hex } from '../domain/ids.js'

/** The code that an address runs when it is called. */
export type AccountCode =
  | { readonly kind: 'none' }
  | { readonly kind: 'contract' }
  /** EIP-7702: an ordinary account that runs the code of `delegate`. */
  | { readonly kind: 'delegated'; readonly delegate: Address }

export const NO_CODE: AccountCode = { kind: 'none' }
export const CONTRACT_CODE: AccountCode = { kind: 'contract' }

/** EIP-7702: 0xef0100 followed by 20 bytes of address. */
const DESIGNATOR = /^0xef0100([0-9a-f]{40})$/i

export function readAccountCode(code: Hex): AccountCode {
  if (code === '0x') return NO_CODE
  const delegate = DESIGNATOR.exec(code)?.[1]
  return delegate === undefined ? CONTRACT_CODE : { kind: 'delegated', delegate: `0x${delegate}` }
}
