import { type Fault, fault } from '../../../src/errors/fault.js'
import { frozenFault } from '../../../src/errors/frozen.js'
import type { SignOutcome } from '../../../src/service-custody/co-signer.js'

/** What the caller hears of a call that was not signed, where the judgement was the other domains'. */
export function refusalFault(outcome: Extract<SignOutcome, { ok: false }>): Fault {
  if (outcome.reason === 'FROZEN') {
    const { scope, sinceMs } = outcome.frozen ?? { scope: 'user', sinceMs: 0 }
    // Why, only the service was told; where it knows, it says so instead.
    return frozenFault({ scope, sinceMs, reason: null, by: 'user' })
  }
  return fault(
    'PERMISSION_DENIED',
    {},
    'The identity provider does not grant this key that call; nothing was signed.',
    outcome.detail,
  )
}
