import type { Address, Hex } from './ids.js'

/** The effect of a transaction on chain, independent of its sender, nonce and fee. */
export interface Call {
  readonly chainId: number
  readonly to: Address
  /** Wei. */
  readonly value: bigint
  readonly data: Hex
}

export function isSameCall(a: Call, b: Call): boolean {
  return a.chainId === b.chainId && a.value === b.value && a.to === b.to && a.data === b.data
}
