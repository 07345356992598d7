import { setTimeout as delay } from 'node:timers/promises'

const DAY_MS = 86_400_000
/** This long after midnight, the clocks of the service and of the chains agree on the day. */
const AFTER_MIDNIGHT_MS = 2_000

/**
 * For tests that compare how much of a cap is used: counters start again at midnight UTC. Resolves
 * at once, except in the last minutes of a day; then it waits for the day's end.
 * @param minutes how long the following steps take at most
 */
export async function withinOneUtcDay(minutes: number): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS)
  if (leftMs < minutes * 60_000) await delay(leftMs + AFTER_MIDNIGHT_MS)
}
