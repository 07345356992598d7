import { LRUCache } from 'lru-cache'

const WINDOW_MS = 15 * 60_000
/** Failures for one account from one address: a person who forgot, not a guesser. */
const PAIR_FAILURES_MAX = 8
/** Failures in a browser that has signed in to the account before. */
const DEVICE_FAILURES_MAX = PAIR_FAILURES_MAX
/**
 * Failures for one account from all addresses. It is higher, so that a stranger cannot easily lock
 * a person out.
 */
const ACCOUNT_FAILURES_MAX = 100
/** Failures from one address over all accounts: password spraying. */
const ADDRESS_FAILURES_MAX = 60
/** The bound of counters; past it the least recently used is forgotten. */
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
  /** Milliseconds until this caller may try again; 0 when it may now. */
  waitMs(caller: LoginCaller, nowMs: number): number
  /** Called before the password is compared; `recordSuccess` undoes it. */
  recordFailure(caller: LoginCaller, nowMs: number): void
  recordSuccess(caller: LoginCaller): void
}

export interface LoginCaller {
  readonly accountKey: string
  /**
   * `passkey` means that nothing is guessed and the caller names the account. A bound over all
   * addresses would keep out only that account's owner.
   */
  readonly by: 'password' | 'passkey'
  readonly address: string
  /** The mark of a browser that has signed in to this account before; then only the mark counts. */
  readonly device: string | null
}

export function createLoginThrottle(): LoginThrottle {
  const counters = new LRUCache<string, Counter>({ max: COUNTERS_MAX })

  function bounds({ accountKey, by, address, device }: LoginCaller): [key: string, max: number][] {
    // Strangers' failures with this account or from this address do not count against the device.
    if (device !== null) return [[`device\0${device}`, DEVICE_FAILURES_MAX]]
    const ofCaller: [key: string, max: number][] = [
      [pairKey(accountKey, address), PAIR_FAILURES_MAX],
      [`address\0${address}`, ADDRESS_FAILURES_MAX],
    ]
    return by === 'passkey'
      ? ofCaller
      : [...ofCaller, [`account\0${accountKey}`, ACCOUNT_FAILURES_MAX]]
  }

  return {
    waitMs(caller, nowMs) {
      let waitMs = 0
      for (const [key, max] of bounds(caller)) {
        const counter = counters.get(key)
        if (counter !== undefined && counter.count >= max) {
          waitMs = Math.max(waitMs, counter.resetsAtMs - nowMs)
        }
      }
      return waitMs
    },
    recordFailure(caller, nowMs) {
      for (const [key] of bounds(caller)) {
        const counter = counters.get(key)
        if (counter !== undefined && counter.resetsAtMs > nowMs) counter.count++
        else counters.set(key, { count: 1, resetsAtMs: nowMs + WINDOW_MS })
      }
    },
    recordSuccess(caller) {
      for (const [key] of bounds(caller)) {
        const counter = counters.get(key)
        if (counter !== undefined) counter.count = Math.max(0, counter.count - 1)
      }
      const { accountKey, address, device } = caller
      // The owner's sign-in does not undo strangers' failures.
      counters.delete(device === null ? pairKey(accountKey, address) : `device\0${device}`)
    },
  }
}

function pairKey(accountKey: string, address: string): string {
  return `pair\0${accountKey}\0${address}`
}
