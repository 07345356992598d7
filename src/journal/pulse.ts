import type { Journal } from './journal.js'

/** Places in the memory that a process shares with the thread that sends its heartbeats. */
export const STORED = 0
export const PULSE = 1

/**
 * A main thread that has not run for this long does not recover by itself. No start took longer,
 * even on a machine with ten times the work that it can do.
 */
export const MAIN_STILL_MS = 15_000

/**
 * Sends heartbeats of a leader as long as its pulse changes. The last heartbeat, that it leaves, is
 * always sent.
 * @param pulse changes as long as the main thread runs
 */
export function heartbeatsWhileAlive(
  { heartbeat }: Pick<Journal, 'heartbeat'>,
  pulse: () => bigint,
  elapsedMs: () => number,
): Pick<Journal, 'heartbeat'> {
  let seen = pulse()
  let seenMs = elapsedMs()
  return {
    async heartbeat(partition, epoch, stored, state) {
      const now = pulse()
      if (now !== seen) {
        seen = now
        seenMs = elapsedMs()
      }
      const isStill = elapsedMs() - seenMs > MAIN_STILL_MS
      if (isStill && state === 'lives') return
      await heartbeat(partition, epoch, stored, state)
    },
  }
}
