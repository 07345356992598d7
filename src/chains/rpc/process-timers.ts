import { randomBytes } from 'node:crypto'
import type { Timers } from '../../clock/timers.js'

/**
 * Time and chance of this process, for clients that are given no others. Unlike the timers of actors,
 * the process waits for what is due: somebody awaits it who may have nothing else to do.
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
