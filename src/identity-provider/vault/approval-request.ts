import { type ApprovalTerm, readApprovalTerm } from '../../custody/approvals/approval-term.js'
import type { ApprovalRequest } from '../../quorum-protocol/methods/approvals.js'
import { Refusal } from '../../quorum-protocol/refusal.js'

/** A waiting call, as the service reports it. */
export interface AskedApproval extends Omit<ApprovalRequest, 'term'> {
  readonly term: ApprovalTerm
  /** The canonical bytes of the term. */
  readonly encoded: Uint8Array
}

/** @throws Refusal MALFORMED */
export function readAsked({ term, ...asked }: ApprovalRequest): AskedApproval {
  const { statement, encoded, rest } = readApprovalTerm(term)
  if (rest.length > 0) throw new Refusal('MALFORMED', 'approval request: term')
  return { ...asked, term: statement, encoded: Buffer.from(encoded) }
}
