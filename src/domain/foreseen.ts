import type { Address } from './ids.js'
import type { UsdMicros } from './money.js'

/**
 * What a call was to do to its wallet, as it was known when it was decided. A forecast: what counted
 * on the caps is in its valuation, and what it did is on its chain.
 */
export interface ForeseenOutcome {
  readonly basis: ForeseenBasis
  /** What leaves the wallet first, and then what it gets. */
  readonly moves: readonly ForeseenMove[]
  /** What others could take of the wallet's afterwards. */
  readonly approvals: readonly ForeseenApproval[]
  /** Moves and approvals besides those, which are not kept. */
  readonly leftOut: number
  /** Null where no node ran it. */
  readonly gasUsed: bigint | null
  /** Prices that it was valued at. */
  readonly prices: readonly ForeseenPrice[]
}

/**
 * run: a node ran it. words: its calldata says it. terms: a Router intent binds whoever executes it.
 */
export const FORESEEN_BASES = ['run', 'words', 'terms'] as const
export type ForeseenBasis = (typeof FORESEEN_BASES)[number]

export interface ForeseenMove {
  readonly way: 'out' | 'in'
  /** Null is native currency. */
  readonly token: Address | null
  /** Null of what has no items. */
  readonly tokenId: bigint | null
  /** Smallest units; 1 for an ERC-721. */
  readonly amount: bigint
  /** Whether more of it may move. */
  readonly atLeast: boolean
  /** Who gets it, or gives it. */
  readonly party: Address
  /** Micro-USD, rounded up; null without a price. */
  readonly valueMicros: UsdMicros | null
}

export interface ForeseenApproval {
  readonly token: Address
  readonly tokenId: bigint | null
  readonly spender: Address
  /** Smallest units; 0 takes the approval away; `all` is every item of a collection. */
  readonly amount: bigint | 'all'
  /** Micro-USD, rounded up; null without a price. */
  readonly valueMicros: UsdMicros | null
}

export interface ForeseenPrice {
  /** Null is native currency. */
  readonly token: Address | null
  /** USD of one whole unit, scaled by 10^decimals. */
  readonly value: bigint
  readonly decimals: number
}

/**
 * Moves, approvals and prices that are kept of one call, of each: 4 KB at the most. Nearly all
 * calls have fewer than five; a run lists up to 1,024.
 */
export const FORESEEN_LISTED_MAX = 16
