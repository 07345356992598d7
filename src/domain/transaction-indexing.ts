/** How long after its creation a transaction is indexed: nearly all are final by then. */
export const INDEXED_AFTER_MS = 600_000

/** Leaves time for a commit, and for clocks to be set back as far as the chains permit. */
const LATE_AFTER_MS = INDEXED_AFTER_MS / 2

/**
 * True when the transaction's id may lie before the indexed ones by the time it is committed, as
 * for a call whose gas wallet signed before the service was down for hours: the index would miss
 * it.
 */
export function mayMissIndex(createdAtMs: number, committedAtMs: number): boolean {
  return committedAtMs - createdAtMs > LATE_AFTER_MS
}
