import type { Draw } from './random.js'

/** What a run has in it: a subset, drawn, since faults hide one another where all come together. */
export interface Features {
  readonly wallets: number
  readonly nodes: number
  readonly calls: number
  /** Between two calls, at most. */
  readonly pauseMsMax: number
  readonly confirmations: number
  readonly blockTimeMs: number
  readonly hasSponsored: boolean
  readonly hasKeyChanges: boolean
  readonly hasFreezes: boolean
  readonly hasCancels: boolean
  readonly kills: number
  readonly diskRefusals: number
  /** Of blocks, how many are followed by a reorg. */
  readonly reorgs: number
  readonly reorgDepthMax: number
  readonly lagMsMax: number
  readonly splits: number
  readonly evictions: number
  readonly ungossiped: number
  readonly unsent: number
  readonly unanswered: number
  readonly refused: number
  readonly quorumUnsent: number
  readonly quorumUnanswered: number
  readonly quorumAway: boolean
  readonly reverts: number
  /** Of blocks, how many of those in the pool are left out. */
  readonly leftOut: number
  /** Policies that send calls to people, or let them wait. */
  readonly hasApprovals: boolean
  /** Policies that count. */
  readonly hasPolicies: boolean
  /** Keys that keys make. */
  readonly hasSubKeys: boolean
  readonly hasRotations: boolean
  /** What comes to its end in the middle of the run. */
  readonly turn: 'none' | 'day' | 'month'
  /** Part by which a price moves at most, each time. */
  readonly priceMoves: number
  readonly priceGaps: number
  readonly listGaps: number
  /** Somebody whom agents pay comes to be on a list. */
  readonly hasListings: boolean
}

export function featuresOf(draw: Draw): Features {
  const some = (most: number) => (draw.chance(0.5) ? draw.fraction() * most : 0)
  return {
    wallets: draw.between(1, 3),
    nodes: draw.between(1, 3),
    calls: draw.between(10, 60),
    pauseMsMax: draw.pick([50, 1_000, 8_000]),
    confirmations: draw.between(1, 4),
    blockTimeMs: draw.pick([2_000, 12_000]),
    hasSponsored: draw.chance(0.5),
    hasKeyChanges: draw.chance(0.4),
    hasFreezes: draw.chance(0.3),
    hasCancels: draw.chance(0.3),
    kills: draw.chance(0.6) ? draw.between(1, 5) : 0,
    diskRefusals: draw.chance(0.2) ? 0.01 : 0,
    reorgs: some(0.2),
    reorgDepthMax: draw.pick([1, 2, 6]),
    lagMsMax: draw.pick([0, 500, 20_000]),
    splits: some(0.2),
    evictions: some(0.05),
    ungossiped: some(0.5),
    unsent: some(0.1),
    unanswered: some(0.2),
    refused: some(0.1),
    quorumUnsent: some(0.15),
    quorumUnanswered: some(0.15),
    quorumAway: draw.chance(0.3),
    reverts: some(0.2),
    leftOut: some(0.5),
    hasApprovals: draw.chance(0.35),
    hasPolicies: draw.chance(0.35),
    hasSubKeys: draw.chance(0.3),
    hasRotations: draw.chance(0.25),
    turn: draw.chance(0.3) ? draw.pick(['day', 'month'] as const) : 'none',
    priceMoves: draw.chance(0.4) ? draw.pick([0.004, 0.04, 0.3]) : 0,
    priceGaps: draw.chance(0.2) ? 0.1 : 0,
    listGaps: draw.chance(0.2) ? 0.1 : 0,
    hasListings: draw.chance(0.25),
  }
}
