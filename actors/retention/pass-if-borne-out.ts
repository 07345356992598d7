import type { ServiceClock } from '../../src/clock/service-clock.js'

/** While the clock is not borne out, as before the first block of a start. */
const LOOK_AGAIN_MS = 1_000

/**
 * What is removed is gone for good, and what is old enough for that is old tomorrow too: nothing is
 * removed by a clock that the chains do not bear out.
 * @param pass removes what is too old by the time it is given
 * @returns milliseconds until the next one
 */
export async function passIfBorneOut(
  clock: Pick<ServiceClock, 'borneOutMs'>,
  intervalMs: number,
  pass: (nowMs: number) => Promise<void>,
): Promise<number> {
  const nowMs = clock.borneOutMs()
  if (nowMs === null) return Math.min(intervalMs, LOOK_AGAIN_MS)
  await pass(nowMs)
  return intervalMs
}
