import { createRateLimiter, type RateLimitPolicy } from '../../auth/rate-limit.js'
import { MEMBERS_MAX } from '../../domain/members.js'
import type { Fault } from '../../errors/fault.js'
import { fault } from '../../errors/fault.js'

/**
 * Spec silent: an account can fill all of its places at once, for which each invitation is asked for twice (the
 * second time with its proof), and then as many again in an hour. Each may send a mail to a stranger.
 */
const REQUESTS_AT_ONCE_MAX = 2 * MEMBERS_MAX
const SECONDS_PER_HOUR = 3_600
const policyOf = (name: string): RateLimitPolicy => ({
  name,
  refillPerSecond: REQUESTS_AT_ONCE_MAX / SECONDS_PER_HOUR,
  burst: REQUESTS_AT_ONCE_MAX,
})

type InvitationRate = (of: {
  readonly accountId: string
  readonly personId: string
}) => Fault | null

/**
 * Counts requests to invite, by account and by the person who asks: a person who is an owner of many accounts
 * has one rate for all of them.
 */
export function createInvitationRate(nowMs: () => number): InvitationRate {
  const accounts = createRateLimiter({ policy: policyOf('invitations-of-account'), nowMs })
  const persons = createRateLimiter({ policy: policyOf('invitations-by-person'), nowMs })
  return ({ accountId, personId }) => {
    // The person's own first: what it refuses must not use up what the owners of the account share.
    const own = persons.take(personId)
    const decision = own.allowed ? accounts.take(accountId) : own
    if (decision.allowed) return null
    const retry_after_seconds = decision.retryAfterSeconds
    return fault(
      'RATE_LIMITED',
      { retry_after_seconds },
      `Too many invitations were asked for; wait ${retry_after_seconds} s before the next one.`,
    )
  }
}
