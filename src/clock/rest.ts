import type { Timers } from './timers.js'

/**
 * Resolves after this many milliseconds, or when `stopping` is aborted. It leaves no listener
 * behind, unlike a race with a promise that lives as long as the thread.
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
