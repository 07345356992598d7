import type { ChainId } from '../../../src/domain/chain.js'

/** What tells one development chain from another. Prices are those of a quiet day. */
export interface DevChain {
  readonly id: ChainId
  readonly name: string
  readonly nativeSymbol: string
  readonly wrappedSymbol: string
  /** 6 everywhere but on BNB Chain, whose bridged USDC has 18. */
  readonly usdcDecimals: number
  /** USD per whole native unit, scaled by 10^8 as Chainlink does. */
  readonly nativePriceUsd8: bigint
  /** Refuse to sign above this; about ten times what the real chain asks in a busy hour. */
  readonly maxFeePerGasCeilingWei: bigint
  /** False on one chain, so that ROUTER_NOT_AVAILABLE is real. */
  readonly hasRouter: boolean
}

const GWEI = 1_000_000_000n

export const DEV_CHAINS: readonly DevChain[] = [
  {
    id: 1,
    name: 'Ethereum',
    nativeSymbol: 'ETH',
    wrappedSymbol: 'WETH',
    usdcDecimals: 6,
    nativePriceUsd8: 3_000_00000000n,
    maxFeePerGasCeilingWei: 1_000n * GWEI,
    hasRouter: true,
  },
  {
    id: 10,
    name: 'Optimism',
    nativeSymbol: 'ETH',
    wrappedSymbol: 'WETH',
    usdcDecimals: 6,
    nativePriceUsd8: 3_000_00000000n,
    maxFeePerGasCeilingWei: 100n * GWEI,
    hasRouter: true,
  },
  {
    id: 56,
    name: 'BNB Chain',
    nativeSymbol: 'BNB',
    wrappedSymbol: 'WBNB',
    usdcDecimals: 18,
    nativePriceUsd8: 800_00000000n,
    maxFeePerGasCeilingWei: 100n * GWEI,
    hasRouter: true,
  },
  {
    id: 137,
    name: 'Polygon',
    nativeSymbol: 'POL',
    wrappedSymbol: 'WPOL',
    usdcDecimals: 6,
    nativePriceUsd8: 25000000n,
    maxFeePerGasCeilingWei: 5_000n * GWEI,
    hasRouter: true,
  },
  {
    id: 8453,
    name: 'Base',
    nativeSymbol: 'ETH',
    wrappedSymbol: 'WETH',
    usdcDecimals: 6,
    nativePriceUsd8: 3_000_00000000n,
    maxFeePerGasCeilingWei: 100n * GWEI,
    hasRouter: true,
  },
  {
    id: 42161,
    name: 'Arbitrum',
    nativeSymbol: 'ETH',
    wrappedSymbol: 'WETH',
    usdcDecimals: 6,
    nativePriceUsd8: 3_000_00000000n,
    maxFeePerGasCeilingWei: 100n * GWEI,
    hasRouter: false,
  },
]
