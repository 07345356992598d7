import { createRateLimiter, type RateLimitPolicy } from '../../auth/rate-limit.js'
import { RequestRefusedError } from './json-body.js'

/**
 * Spec silent: the rates of requests about authorizers, of one user and of all users together. Each
 * request verifies a signature or writes to disk on the thread that approves agents' calls. A
 * person sends one now and then; a script that adds sixteen keys sends a few dozen.
 */
const USER_POLICY: RateLimitPolicy = { name: 'authorizers', refillPerSecond: 10, burst: 120 }
const ALL_POLICY: RateLimitPolicy = { name: 'authorizers-all', refillPerSecond: 100, burst: 400 }

const ALL = 'all'

/** @returns a function that throws RequestRefusedError RATE_LIMITED before any work begins */
export function createCeremonyRate(nowMs: () => number = () => performance.now()) {
  const users = createRateLimiter({ policy: USER_POLICY, nowMs })
  const everybody = createRateLimiter({ policy: ALL_POLICY, nowMs })
  return (userId: string): void => {
    // The user's own limit first: a request that it refuses must not use up the shared one.
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
