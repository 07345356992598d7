import type { ChainAccess } from '../chains/access.js'
import type { Address, Hex } from '../domain/ids.js'

/** The port to a swap venue; an aggregator would be another adapter. */
export interface SwapVenue {
  /**
   * The best offer for an exact input, or null.
   * @throws FaultError CHAIN_UNAVAILABLE
   */
  offer(chain: ChainAccess, request: SwapRequest): Promise<SwapOffer | null>
}

export interface SwapRequest {
  /** Native currency is the ERC-7528 address, on both sides; the two tokens always differ. */
  readonly tokenIn: Address
  readonly tokenOut: Address
  /** In smallest units, after the service's fee. */
  readonly amountIn: bigint
}

export interface SwapOffer {
  /** In smallest units of the output. */
  readonly amountOut: bigint
  /** How much worse than the spot price, without the pools' fees; 0 for wrapping. */
  readonly priceImpactBps: number
  readonly venue: string
  /** The contract that is called. */
  readonly target: Address
  /** The ERC-20 tokens along the route. */
  readonly tokens: readonly Address[]
  /** What the first hops give of the tokens between input and output, smallest units. */
  readonly amountsBetween: readonly bigint[]
  /** Pool fee of each hop in hundredths of a basis point; empty for wrapping. */
  readonly poolFees: readonly number[]
  /** @returns calldata for `target` that pays at least `minOut` to `recipient`, or reverts */
  encode(minOut: bigint, recipient: Address): Hex
}
