import { CHAIN_IDS, type ChainId, chainFacts } from '../../../src/domain/chains.js'

/** The traits that distinguish development chains. Prices are those of a quiet day. */
export interface DevChain extends DevTraits {
  readonly id: ChainId
  readonly name: string
  readonly nativeSymbol: string
  readonly wrappedSymbol: string
}

interface DevTraits {
  /** 6 on every chain except BNB Chain, whose bridged USDC has 18. */
  readonly usdcDecimals: number
  /** USD per whole native unit, scaled by 10^8 as Chainlink does. */
  readonly nativePriceUsd8: bigint
  /** The highest fee to sign, about ten times what the real chain asks in a busy hour. */
  readonly maxFeePerGasCeilingWei: bigint
  /** False on one chain, so that ROUTER_NOT_AVAILABLE is real. */
  readonly hasRouter: boolean
}

const GWEI = 1_000_000_000n

const USUAL: DevTraits = {
  usdcDecimals: 6,
  nativePriceUsd8: 3_000_00000000n,
  maxFeePerGasCeilingWei: 100n * GWEI,
  hasRouter: true,
}

const TRAITS: Readonly<Record<ChainId, DevTraits>> = {
  1: { ...USUAL, maxFeePerGasCeilingWei: 1_000n * GWEI },
  10: USUAL,
  56: { ...USUAL, usdcDecimals: 18, nativePriceUsd8: 800_00000000n },
  137: { ...USUAL, nativePriceUsd8: 25000000n, maxFeePerGasCeilingWei: 5_000n * GWEI },
  8453: USUAL,
  42161: { ...USUAL, hasRouter: false },
}

export const DEV_CHAINS: readonly DevChain[] = CHAIN_IDS.map((id) => {
  const { name, nativeSymbol } = chainFacts(id)
  return { id, name, nativeSymbol, wrappedSymbol: `W${nativeSymbol}`, ...TRAITS[id] }
})
