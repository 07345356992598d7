/** How soon a process that keeps ending is started again. */
export interface Backoff {
  readonly firstMs: number
  readonly maxMs: number
  /** A process that lived this long has proven itself: the next delay is the first again. */
  readonly provenAfterMs: number
}

/**
 * A crash is mostly a passing one, so the first restart comes at once to a human; ten seconds is
 * slow enough for a process that cannot start to cost nothing.
 */
export const DEFAULT_BACKOFF: Backoff = { firstMs: 200, maxMs: 10_000, provenAfterMs: 30_000 }

/** @param failures ends in a row before this one */
export function backoffMs(backoff: Backoff, failures: number): number {
  return Math.min(backoff.firstMs * 2 ** Math.min(failures, 30), backoff.maxMs)
}
