import { setTimeout as delay } from 'node:timers/promises'
import type { ServiceClock } from './service-clock.js'

/** Chains answer within milliseconds; a start without any chain must not take much longer. */
const WAIT_MS_MAX = 3_000
const POLL_MS = 10

/**
 * Resolves once a block confirms the clock, or after the wait: until then every call that moves
 * value is refused, so it is better to open the port a moment later.
 */
export async function firstBlock(clock: Pick<ServiceClock, 'aheadMs'>): Promise<void> {
  const startedMs = performance.now()
  while (clock.aheadMs() === null && performance.now() - startedMs < WAIT_MS_MAX) {
    await delay(POLL_MS)
  }
}
