import type { Address, Hex } from './ids.js'

/**
 * What a sponsored call does with its input, before account, nonce and deadline make an intent of
 * it. Fields as in the Router's intent.
 */
export interface IntentTerms {
  readonly tokenIn: Address
  /** Smallest units, the fee included. */
  readonly amountIn: bigint
  readonly feeBps: number
  readonly tokenOut: Address
  readonly minOut: bigint
  /** Venue that is called. */
  readonly target: Address
  /** Calldata for `target`. */
  readonly data: Hex
}

/** An address to be screened, and where it stood. */
export interface PartyNamed {
  readonly address: Address
  readonly path: string
}
