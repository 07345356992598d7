import { randomBytes } from 'node:crypto'

/**
 * Time and randomness for actors' shells, operations, the audit log and the service's side of
 * custody. None of them uses a timer, a clock or randomness of its own, so that a simulator can
 * control them all.
 */
export interface Timers {
  /** Milliseconds since the Unix epoch, by the service's clock. */
  now(): number
  /** Milliseconds of a monotonic clock, for durations and timeouts. */
  elapsed(): number
  /** Runs a task once, when `now` is `atMs` or later. It does not keep the process alive. */
  at(atMs: number, task: () => void): Alarm
  /** Runs a task once everything that is due in this turn of the event loop has run. */
  soon(task: () => void): void
  readonly random: {
    /** In [0, 1). */
    fraction(): number
    /** Cryptographically random bytes. */
    bytes(count: number): Uint8Array
  }
}

export interface Alarm {
  /** Does nothing once the task has run. */
  cancel(): void
}

/** Small requests share a larger draw: a call for ten bytes costs as much as one for thousands. */
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

/**
 * Uses this process's timers and randomness.
 * @param now the service's clock; absent to use the machine's
 */
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

/** Resolves after this many milliseconds. */
export function sleep(timers: Pick<Timers, 'now' | 'at'>, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    timers.at(timers.now() + delayMs, resolve)
  })
}

/** The interval at which a change of the clock is noticed. */
const POLL_MS = 60_000

/**
 * Resolves once `now` is `atMs` or later. A single timer would count the remaining time as it was
 * at the start, which may be hours too long when a wrong clock is corrected, and no timer runs for
 * more than 24.8 days.
 */
export async function sleepUntil(timers: Pick<Timers, 'now' | 'at'>, atMs: number): Promise<void> {
  do {
    await sleep(timers, Math.min(POLL_MS, Math.max(0, atMs - timers.now())))
  } while (timers.now() < atMs)
}

/** Resolves as the work does, or with null when it takes longer. Rejects as the work does. */
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

/** Returns an unguessable name: 16 random bytes, base64url. */
export function unguessable({ random }: Pick<Timers, 'random'>): string {
  return Buffer.from(random.bytes(16)).toString('base64url')
}
