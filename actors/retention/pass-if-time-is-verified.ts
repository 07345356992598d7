import type { ServiceClock } from '../../src/clock/service-clock.js'

/** The interval while the clock is not verified, as before the first block after a start. */
const RETRY_MS = 1_000

/**
 * Removal is final, and what is old enough today is old enough tomorrow: nothing is removed by a
 * clock that is not verified against the chains.
 * @param pass removes what is too old at the time that it is given
 * @returns milliseconds until the next pass
 */
export async function passIfVerified(
  clock: Pick<ServiceClock, 'verifiedNowMs'>,
  intervalMs: number,
  pass: (nowMs: number) => Promise<void>,
): Promise<number> {
  const nowMs = clock.verifiedNowMs()
  if (nowMs === null) return Math.min(intervalMs, RETRY_MS)
  await pass(nowMs)
  return intervalMs
}
