/** How long after it came in a transaction is indexed: nearly all are final by then. */
export const INDEXED_AFTER_MS = 600_000

/** So that a commit may take its time, and clocks may be set back by what chains let them be off. */
const LATE_AFTER_MS = INDEXED_AFTER_MS / 2

/**
 * True of one whose id may lie before what is indexed by the time it is committed, as of a call whose
 * gas wallet signed before the service was down for hours: the index passes it over.
 */
export function mayMissIndex(createdAtMs: number, committedAtMs: number): boolean {
  return committedAtMs - createdAtMs > LATE_AFTER_MS
}
