import { type Fault, fault } from '../../../src/errors/fault.js'
import { frozenFault } from '../../../src/errors/frozen.js'
import { unapprovedFault } from '../../../src/errors/unapproved.js'
import type { PolicyDenial } from '../../../src/quorum-protocol/policy-denial.js'
import type { SignOutcome } from '../../../src/service-custody/co-signer.js'

/** Whether another domain refused the call itself, in contrast to not answering. */
export function isJudged({ reason }: Extract<SignOutcome, { ok: false }>): boolean {
  return reason === 'REFUSED' || reason === 'FROZEN' || reason === 'UNAPPROVED'
}

/**
 * The fault that the caller receives for a call that was not signed because another domain refused
 * it.
 */
export function refusalFault(outcome: Extract<SignOutcome, { ok: false }>): Fault {
  if (outcome.reason === 'FROZEN') {
    const { scope, sinceMs } = outcome.frozen ?? { scope: 'user', sinceMs: 0 }
    // Only the service was told the reason; when it knows one, it gives that instead.
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
 * The identity provider may refuse by policy what the service let through: it counts calls that
 * were signed and never mined, and it decides a moment later.
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
