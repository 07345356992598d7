import { setTimeout as delay } from 'node:timers/promises'
import type { ServiceClock } from './service-clock.js'

/** Chains answer within milliseconds; a start without any of them must not take much longer. */
const WAIT_MS_MAX = 3_000
const LOOK_MS = 10

/**
 * Resolves once a block bears the clock out, or the wait is over: until then all that moves value is
 * refused, so callers who find the port open are better served a moment later.
 */
export async function firstBlock(clock: Pick<ServiceClock, 'aheadMs'>): Promise<void> {
  const startedMs = performance.now()
  while (clock.aheadMs() === null && performance.now() - startedMs < WAIT_MS_MAX) {
    await delay(LOOK_MS)
  }
}
