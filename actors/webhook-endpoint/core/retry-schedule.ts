/** CONTRACT.md, "Events and webhooks": about 41.3 hours from the first try to the last. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5_000,
  30_000,
  2 * 60_000,
  15 * 60_000,
  3_600_000,
  4 * 3_600_000,
  12 * 3_600_000,
  24 * 3_600_000,
]

/**
 * Spread to either side of a delay. Enough that the retries of one outage do not come back in
 * step, little enough that the schedule stays what the documentation says.
 */
const JITTER_FRACTION = 0.1

/**
 * When to try again.
 * @param failures failed attempts so far, the one just made included; at least 1
 * @param jitter uniform in [0, 1)
 * @returns milliseconds since the epoch, or null when the schedule is exhausted
 */
export function retryAtMs(failures: number, nowMs: number, jitter: number): number | null {
  const delayMs = RETRY_DELAYS_MS[failures - 1]
  if (delayMs === undefined) return null
  return nowMs + Math.round(delayMs * (1 + JITTER_FRACTION * (2 * jitter - 1)))
}
