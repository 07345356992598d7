import { LRUCache } from 'lru-cache'
import type { Timers } from '../../src/clock/timers.js'
import type { UserId } from '../../src/domain/ids.js'

/**
 * Limits the delivery attempts per second that a thread makes for one user's endpoints.
 *
 * Spec silent on a user with too many events. The log is the record and takes all of them, because
 * their causes are bounded already: sends by the rate of their key and the places of write-path
 * calls, the console by the rate of its user. Delivering is what users share, so it slows down:
 * deliveries wait in the log, in their order, and none is lost.
 */
export interface DeliveryPace {
  /**
   * Takes the user's next place.
   * @returns milliseconds until it comes; 0 when it is free
   */
  next(userId: UserId): number
}

/** Half a second's attempts may start at once. */
const BURST_MS = 500
/** The least recently used entry has long caught up, and so may be forgotten. */
const USERS_MAX = 10_000

export function createDeliveryPace(
  perSecond: number,
  timers: Pick<Timers, 'elapsed'>,
): DeliveryPace {
  /** The time at which the places that a user took are all past, at the steady rate. */
  const takenUntilMs = new LRUCache<UserId, number>({ max: USERS_MAX })
  const eachMs = 1_000 / perSecond
  return {
    next(userId) {
      const now = timers.elapsed()
      const before = Math.max(now, takenUntilMs.get(userId) ?? 0)
      takenUntilMs.set(userId, before + eachMs)
      return Math.max(0, Math.ceil(before - now - BURST_MS))
    },
  }
}
