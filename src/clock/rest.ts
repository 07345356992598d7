import type { Timers } from './timers.js'

/**
 * Resolves after that many milliseconds, or when `stopping` is aborted. Nothing of it stays: whoever
 * rests by a race with a promise that lives as long as the thread leaves something there each time.
 */
export function rest(
  timers: Pick<Timers, 'now' | 'at'>,
  delayMs: number,
  stopping: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.aborted) {
      resolve()
      return
    }
    const end = () => {
      alarm.cancel()
      stopping.removeEventListener('abort', end)
      resolve()
    }
    const alarm = timers.at(timers.now() + delayMs, end)
    stopping.addEventListener('abort', end)
  })
}
