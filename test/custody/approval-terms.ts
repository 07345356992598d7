import { type TermOfCall, termOfCall } from '../../src/custody/approvals/approval-term.js'
import type { AskedCall } from '../../src/domain/approval.js'
import type { Call } from '../../src/domain/call.js'
import type { RouterIntentPayload } from '../../src/quorum-protocol/sign-payload.js'

type Asked = Omit<AskedCall, 'subject'>

export function callTerm(asked: Asked, { chainId, to, value, data }: Call) {
  const call = { chainId, to, value, data }
  return termOfCall({ ...asked, subject: { kind: 'transaction', call } }).term
}

export function intentTerm(
  asked: Asked,
  { chainId, verifyingContract: router, intent }: RouterIntentPayload,
): TermOfCall {
  const { account, nonce: _, deadline: _d, ...terms } = intent
  return termOfCall({ ...asked, subject: { kind: 'intent', chainId, router, account, terms } })
}
