import { type Fault, fault } from '../../../src/errors/fault.js'
import { frozenFault } from '../../../src/errors/frozen.js'
import { unapprovedFault } from '../../../src/errors/unapproved.js'
import type { PolicyDenial } from '../../../src/quorum-protocol/policy-denial.js'
import type { SignOutcome } from '../../../src/service-custody/co-signer.js'

/** Whether another domain judged the call itself, and did not only fail to answer. */
export function isJudged({ reason }: Extract<SignOutcome, { ok: false }>): boolean {
  return reason === 'REFUSED' || reason === 'FROZEN' || reason === 'UNAPPROVED'
}

/** What the caller hears of a call that was not signed, where the judgement was the other domains'. */
export function refusalFault(outcome: Extract<SignOutcome, { ok: false }>): Fault {
  if (outcome.reason === 'FROZEN') {
    const { scope, sinceMs } = outcome.frozen ?? { scope: 'user', sinceMs: 0 }
    // Why, only the service was told; where it knows, it says so instead.
    return frozenFault({ scope, sinceMs, reason: null, by: 'user' })
  }
  if (outcome.reason === 'UNAPPROVED') return unapprovedFault(outcome.detail)
  if (outcome.denial !== undefined) return denialFault(outcome.denial, outcome.detail)
  return fault(
    'PERMISSION_DENIED',
    {},
    'The identity provider does not grant this key that call; nothing was signed.',
    outcome.detail,
  )
}

/**
 * By the policy the identity provider may refuse what the service let through: it counts what was
 * signed and never mined, and it judges a moment later.
 */
function denialFault(denial: PolicyDenial, detail: string | undefined): Fault {
  const { rule, field, observed, permitted, retryAt, suggestion } = denial
  return fault(
    'POLICY_DENIED',
    { rule, field, observed, permitted, retry_at: retryAt, suggestion },
    `The policy of this API key does not let this call through, as the identity provider judges it (${rule}: ${field} is ${observed}, permitted is ${permitted}); nothing was signed.`,
    detail,
  )
}
