import { randomBytes } from 'node:crypto'
import type { Timers } from '../../clock/timers.js'

/**
 * Time and randomness of this process, for clients that are given no others. Unlike actors' timers,
 * these keep the process alive: a caller awaits the result and may have nothing else to do.
 */
export const PROCESS_TIMERS: Timers = {
  now: Date.now,
  elapsed: () => performance.now(),
  at(atMs, task) {
    const timer = setTimeout(task, Math.max(0, atMs - Date.now()))
    return { cancel: () => clearTimeout(timer) }
  },
  soon(task) {
    setImmediate(task)
  },
  random: { fraction: Math.random, bytes: randomBytes },
}
