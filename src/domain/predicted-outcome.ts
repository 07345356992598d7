import type { Address } from './ids.js'
import type { UsdMicros } from './money.js'

/**
 * The predicted effect of a call on its wallet, as known when the call was decided. It is a
 * forecast: what counted on the caps is in the valuation, and what the call did is on chain.
 */
export interface PredictedOutcome {
  readonly basis: PredictionBasis
  /** Outgoing moves first, then incoming ones. */
  readonly moves: readonly PredictedMove[]
  /** The assets that others could take from the wallet afterwards. */
  readonly approvals: readonly PredictedApproval[]
  /** The number of further moves and allowances, which are not kept. */
  readonly leftOut: number
  /** Null when no node simulated it. */
  readonly gasUsed: bigint | null
  /** The prices that it was valued at. */
  readonly prices: readonly PredictedPrice[]
}

/**
 * run: a node simulated it. words: derived from its calldata. terms: a Router intent binds its
 * executor.
 */
export const PREDICTION_BASES = ['run', 'words', 'terms'] as const
type PredictionBasis = (typeof PREDICTION_BASES)[number]

export interface PredictedMove {
  readonly way: 'out' | 'in'
  /** Null for native currency. */
  readonly token: Address | null
  /** Null for tokens without ids. */
  readonly tokenId: bigint | null
  /** In smallest units; 1 for an ERC-721 token. */
  readonly amount: bigint
  /** Whether more of it may move. */
  readonly atLeast: boolean
  /** The address that receives it or gives it. */
  readonly party: Address
  /** Micro-USD, rounded up; null without a price. */
  readonly valueMicros: UsdMicros | null
}

export interface PredictedApproval {
  readonly token: Address
  readonly tokenId: bigint | null
  readonly spender: Address
  /** In smallest units; 0 removes the allowance; `all` is every token of a collection. */
  readonly amount: bigint | 'all'
  /** Micro-USD, rounded up; null without a price. */
  readonly valueMicros: UsdMicros | null
}

export interface PredictedPrice {
  /** Null for native currency. */
  readonly token: Address | null
  /** USD per whole unit, scaled by 10^decimals. */
  readonly value: bigint
  readonly decimals: number
}

/**
 * The most moves, allowances and prices that are kept of one call, each: 4 KB in all. Nearly all
 * calls have fewer than five; a simulation lists up to 1,024.
 */
export const PREDICTED_LISTED_MAX = 16
