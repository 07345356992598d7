/**
 * The circuit breaker of one endpoint: after a run of failures nothing is sent to it for a while,
 * then a single probe decides. Pure state with the clock passed in; the owner probes.
 */

/** A run this long is an outage; fewer would open on one lost keep-alive connection. */
export const FAILURES_TO_OPEN = 4
const OPEN_MS_MIN = 500
/** An endpoint that is back is noticed within this time at the latest. */
const OPEN_MS_MAX = 15_000

export interface Breaker {
  /** `half-open`: the pause is over and one probe decides. */
  state(nowMs: number): 'closed' | 'half-open' | 'open'
  /** @returns true when this closed the breaker */
  succeed(): boolean
  /** @returns true when this opened the breaker */
  fail(nowMs: number): boolean
}

export function createBreaker(): Breaker {
  let failures = 0
  let open = false
  let openUntilMs = 0
  let openMs = OPEN_MS_MIN
  return {
    state(nowMs) {
      if (!open) return 'closed'
      return nowMs < openUntilMs ? 'open' : 'half-open'
    },
    succeed() {
      const wasOpen = open
      failures = 0
      open = false
      openMs = OPEN_MS_MIN
      return wasOpen
    },
    fail(nowMs) {
      if (open) {
        // Requests sent before the breaker opened may fail late; only a failed probe lengthens the
        // pause.
        if (nowMs < openUntilMs) return false
        openMs = Math.min(openMs * 2, OPEN_MS_MAX)
        openUntilMs = nowMs + openMs
        return false
      }
      failures++
      if (failures < FAILURES_TO_OPEN) return false
      open = true
      openUntilMs = nowMs + openMs
      return true
    },
  }
}
