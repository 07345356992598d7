import type { ChainAccess } from '../chains/access.js'
import type { Address, Hex } from '../domain/ids.js'

/** The port to where tokens are swapped; an aggregator would be another adapter. */
export interface SwapVenue {
  /**
   * The best offer for an exact input; null when there is none.
   * @throws FaultError CHAIN_UNAVAILABLE
   */
  offer(chain: ChainAccess, request: SwapRequest): Promise<SwapOffer | null>
}

export interface SwapRequest {
  /** Native currency is given as the ERC-7528 address, on both sides; never the same twice. */
  readonly tokenIn: Address
  readonly tokenOut: Address
  /** Smallest units, net of the service's fee. */
  readonly amountIn: bigint
}

export interface SwapOffer {
  /** Smallest units of the output. */
  readonly amountOut: bigint
  /** How much worse than the spot price, fees of the pools left out; 0 for wrapping. */
  readonly priceImpactBps: number
  readonly venue: string
  /** Contract that is called. */
  readonly target: Address
  /** ERC-20 tokens along the way. */
  readonly tokens: readonly Address[]
  /** Pool fee of each hop in hundredths of a basis point; empty for wrapping. */
  readonly poolFees: readonly number[]
  /** @returns calldata for `target` that pays at least `minOut` to `recipient`, or reverts */
  encode(minOut: bigint, recipient: Address): Hex
}
