import { LRUCache } from 'lru-cache'

const WINDOW_MS = 15 * 60_000
/** Wrong passwords for one account from one address: a person who forgot, not a guesser. */
const PAIR_FAILURES_MAX = 8
/** For one account from everywhere. Higher, so that a stranger cannot easily lock a person out. */
const ACCOUNT_FAILURES_MAX = 100
/** From one address over all accounts: password spraying. */
const ADDRESS_FAILURES_MAX = 60
/** Counters kept; past this the least recently used is forgotten. */
const COUNTERS_MAX = 50_000

interface Counter {
  count: number
  readonly resetsAtMs: number
}

/**
 * Counts failed logins in fixed windows, in memory. A restart forgets them, which costs a guesser
 * a crash of the process per handful of guesses.
 */
export interface LoginThrottle {
  /** Milliseconds until this pair may try again; 0 when it may now. */
  waitMs(accountKey: string, address: string, nowMs: number): number
  /** Called before the password is compared; `recordSuccess` takes it back. */
  recordFailure(accountKey: string, address: string, nowMs: number): void
  recordSuccess(accountKey: string, address: string): void
}

export function createLoginThrottle(): LoginThrottle {
  const counters = new LRUCache<string, Counter>({ max: COUNTERS_MAX })

  const bounds = (accountKey: string, address: string): [key: string, max: number][] => [
    [pairKey(accountKey, address), PAIR_FAILURES_MAX],
    [`account\0${accountKey}`, ACCOUNT_FAILURES_MAX],
    [`address\0${address}`, ADDRESS_FAILURES_MAX],
  ]

  return {
    waitMs(accountKey, address, nowMs) {
      let waitMs = 0
      for (const [key, max] of bounds(accountKey, address)) {
        const counter = counters.get(key)
        if (counter !== undefined && counter.count >= max) {
          waitMs = Math.max(waitMs, counter.resetsAtMs - nowMs)
        }
      }
      return waitMs
    },
    recordFailure(accountKey, address, nowMs) {
      for (const [key] of bounds(accountKey, address)) {
        const counter = counters.get(key)
        if (counter !== undefined && counter.resetsAtMs > nowMs) counter.count++
        else counters.set(key, { count: 1, resetsAtMs: nowMs + WINDOW_MS })
      }
    },
    recordSuccess(accountKey, address) {
      for (const [key] of bounds(accountKey, address)) {
        const counter = counters.get(key)
        if (counter !== undefined) counter.count = Math.max(0, counter.count - 1)
      }
      counters.delete(pairKey(accountKey, address))
    },
  }
}

function pairKey(accountKey: string, address: string): string {
  return `pair\0${accountKey}\0${address}`
}
