import { createRateLimiter, type RateLimitPolicy } from '../../auth/rate-limit.js'
import { RequestRefusedError } from './json-body.js'

/**
 * Spec silent: requests of one user about authorizers, and of all users together. Each verifies a
 * signature or writes to disk on the thread that approves what agents send; a person with a page
 * open makes one in a while, and a script that adds sixteen keys makes some dozens.
 */
const USER_POLICY: RateLimitPolicy = { name: 'authorizers', refillPerSecond: 10, burst: 120 }
const ALL_POLICY: RateLimitPolicy = { name: 'authorizers-all', refillPerSecond: 100, burst: 400 }

const ALL = 'all'

/** @returns throws RequestRefusedError RATE_LIMITED for what exceeds the rate, before it is begun */
export function createCeremonyRate(nowMs: () => number = () => performance.now()) {
  const users = createRateLimiter({ policy: USER_POLICY, nowMs })
  const everybody = createRateLimiter({ policy: ALL_POLICY, nowMs })
  return (userId: string): void => {
    // The user's own first: what it refuses must not use up what all share.
    const own = users.take(userId)
    const decision = own.allowed ? everybody.take(ALL) : own
    if (decision.allowed) return
    const wait = decision.retryAfterSeconds
    throw new RequestRefusedError(
      429,
      'RATE_LIMITED',
      `Too many requests about authorizers; wait ${wait} s.`,
      wait,
    )
  }
}
