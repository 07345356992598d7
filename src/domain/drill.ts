/**
 * Faults that a caller of a test environment may inject into one write of its own, so that its
 * agent meets them before they happen in production.
 */
export const DRILLS = [
  'slow-node',
  'dropped-broadcast',
  'reorg',
  'feed-stale',
  'cosigner-away',
  'screening-away',
] as const

export type Drill = (typeof DRILLS)[number]

/**
 * Faults of transactions of the sub-wallet's own account. A sponsored call is a gas wallet's
 * transaction, and delaying it would delay other callers' transactions.
 */
export const OWN_ACCOUNT_DRILLS: ReadonlySet<Drill> = new Set([
  'slow-node',
  'dropped-broadcast',
  'reorg',
])
