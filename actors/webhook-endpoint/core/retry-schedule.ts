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
 * The largest deviation from a delay, to either side. It is enough to spread the retries of one
 * outage, and small enough that the schedule stays as documented.
 */
const JITTER_FRACTION = 0.1

/**
 * Spec silent: a receiver may postpone its next try with `Retry-After`, by at most the longest
 * delay of the schedule, so that no receiver can have a delivery kept for years. It cannot bring
 * the try forward.
 */
export const RETRY_AFTER_MS_MAX = 24 * 3_600_000

/**
 * When to try again.
 * @param failures failed attempts so far, including the latest; at least 1
 * @param jitter uniform in [0, 1)
 * @param retryAfterMs the pause that the receiver requested; 0 for none
 * @returns milliseconds since the Unix epoch, or null when the schedule is exhausted
 */
export function retryAtMs(
  failures: number,
  nowMs: number,
  jitter: number,
  retryAfterMs = 0,
): number | null {
  const delayMs = RETRY_DELAYS_MS[failures - 1]
  if (delayMs === undefined) return null
  const scheduledMs = Math.round(delayMs * (1 + JITTER_FRACTION * (2 * jitter - 1)))
  // Deviates only to the later side: never before the requested time.
  const askedMs = Math.min(retryAfterMs, RETRY_AFTER_MS_MAX) * (1 + JITTER_FRACTION * jitter)
  return nowMs + Math.max(scheduledMs, Math.round(askedMs))
}
