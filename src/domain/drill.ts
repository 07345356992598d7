/**
 * What a caller of a test environment may ask to go wrong with one write of its own, so that its
 * agent meets it before the world brings it about.
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
 * What befalls a transaction of the sub-wallet's own account. A sponsored call is a gas wallet's
 * transaction, and to hold that back would hold back other callers' behind it.
 */
export const OWN_ACCOUNT_DRILLS: ReadonlySet<Drill> = new Set([
  'slow-node',
  'dropped-broadcast',
  'reorg',
])
