/** The delays before a process that keeps ending is restarted. */
export interface Backoff {
  readonly firstMs: number
  readonly maxMs: number
  /** After this lifetime a process counts as healthy, and the next delay is the first one again. */
  readonly provenAfterMs: number
}

/**
 * Most crashes are transient, so the first restart seems immediate to a person; at ten seconds a
 * process that cannot start costs almost nothing.
 */
export const DEFAULT_BACKOFF: Backoff = { firstMs: 200, maxMs: 10_000, provenAfterMs: 30_000 }

/** @param failures how many ends in a row came before this one */
export function backoffMs(backoff: Backoff, failures: number): number {
  return Math.min(backoff.firstMs * 2 ** Math.min(failures, 30), backoff.maxMs)
}
