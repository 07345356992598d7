import { randomBytes } from 'node:crypto'

/**
 * Time and chance, as actors' shells, operations, the audit log and the service's side of custody
 * see them. None of those reaches for a timer, a clock or randomness of its own, so that a simulator
 * can own them all.
 */
export interface Timers {
  /** Milliseconds since the epoch, by the service's clock. */
  now(): number
  /** Milliseconds of a clock that nobody sets: for how fast, and for how long at most. */
  elapsed(): number
  /**
   * Runs a task once, when `now` is `atMs` or later. A process that has nothing else to do does not
   * wait for it.
   */
  at(atMs: number, task: () => void): Alarm
  /** Runs a task once everything that is due in this turn of the event loop has run. */
  soon(task: () => void): void
  readonly random: {
    /** In [0, 1). */
    fraction(): number
    /** That nobody can guess. */
    bytes(count: number): Uint8Array
  }
}

export interface Alarm {
  /** Once the task has run there is nothing to cancel. */
  cancel(): void
}

/** Of few bytes, many are drawn at once: a call for ten costs what one for thousands does. */
const POOLED_MAX = 32
const POOL_BYTES = 4_096
let pool = Buffer.alloc(0)
let at = 0

function pooledBytes(count: number): Uint8Array {
  if (count > POOLED_MAX) return randomBytes(count)
  if (at + count > pool.length) {
    pool = randomBytes(POOL_BYTES)
    at = 0
  }
  at += count
  return pool.subarray(at - count, at)
}

/** Those of this process. @param now the service's clock; absent: the machine's */
export function systemTimers(now: () => number = Date.now): Timers {
  return {
    now,
    elapsed: () => performance.now(),
    at(atMs, task) {
      const timer = setTimeout(task, Math.max(0, atMs - now()))
      timer.unref()
      return { cancel: () => clearTimeout(timer) }
    },
    soon(task) {
      setImmediate(task)
    },
    random: { fraction: Math.random, bytes: pooledBytes },
  }
}

/** Resolves after that many milliseconds. */
export function sleep(timers: Pick<Timers, 'now' | 'at'>, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    timers.at(timers.now() + delayMs, resolve)
  })
}

/** Within this time it is seen that the clock was set. */
const LOOK_MS = 60_000

/**
 * Resolves once `now` is `atMs` or later. A timer counts what was left until then when it began, which a
 * clock that is wrong then and set right afterwards would make hours, and none counts beyond 24.8 days.
 */
export async function sleepUntil(timers: Pick<Timers, 'now' | 'at'>, atMs: number): Promise<void> {
  do {
    await sleep(timers, Math.min(LOOK_MS, Math.max(0, atMs - timers.now())))
  } while (timers.now() < atMs)
}

/** Resolves as the work does, or with null when that takes longer. Rejects as the work does. */
export function inTime<T>(
  timers: Pick<Timers, 'now' | 'at'>,
  limitMs: number,
  work: Promise<T>,
): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const alarm = timers.at(timers.now() + limitMs, () => resolve(null))
    work.then(resolve, reject).finally(() => alarm.cancel())
  })
}

/** A name that nobody can guess: 16 bytes, base64url. */
export function unguessable({ random }: Pick<Timers, 'random'>): string {
  return Buffer.from(random.bytes(16)).toString('base64url')
}
