import { setTimeout as delay } from 'node:timers/promises'

const DAY_MS = 86_400_000
/** Past midnight by this much, the service's clock and the chains' agree on the day. */
const AFTER_MIDNIGHT_MS = 2_000

/**
 * For tests that compare what is used of a cap: counters begin anew at midnight UTC.
 * Resolves at once, except in the last minutes of a day, whose end it then waits for.
 * @param minutes what follows takes at most
 */
export async function withinOneUtcDay(minutes: number): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS)
  if (leftMs < minutes * 60_000) await delay(leftMs + AFTER_MIDNIGHT_MS)
}
