import type { Address, Hex } from './ids.js'

/**
 * What a sponsored call does with its input, before account, nonce and deadline make it an intent.
 * The fields are those of the Router's intent.
 */
export interface IntentTerms {
  readonly tokenIn: Address
  /** In smallest units, fee included. */
  readonly amountIn: bigint
  readonly feeBps: number
  readonly tokenOut: Address
  readonly minOut: bigint
  /** The venue that is called. */
  readonly target: Address
  /** The calldata for `target`. */
  readonly data: Hex
}

/** An address to screen, and where it was found. */
export interface PartyNamed {
  readonly address: Address
  readonly path: string
}
