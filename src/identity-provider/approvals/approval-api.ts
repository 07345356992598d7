import type { IncomingMessage } from 'node:http'
import { approvalTermMessage } from '../../custody/approvals/approval-term.js'
import type { Authorizer } from '../../custody/authorizers/authorizer.js'
import { encodeProof } from '../../custody/authorizers/proof.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { readJson } from '../authorizers/json-body.js'
import type { Visitor } from '../authorizers/visitor.js'
import {
  approveCallBody,
  authorizerJson,
  base64Url,
  declineCallBody,
  waitingCallBody,
} from '../authorizers/wire.js'
import type { SeenApproval, UserSideApprovals } from '../vault/approvals.js'
import { approvalIdOf, linesOf, stateOf } from './approval-page.js'

/**
 * Serves waiting calls to their owner, by a page's session or the command line's token. Seeing a
 * call takes the owner's sign-in. Approving it also takes an authorizer's signature, the only thing
 * that counts at signing. Declining takes only the sign-in, because it only takes away.
 */
interface ApprovalApiDeps {
  readonly approvals: UserSideApprovals
  readonly ceremonies: { list(userId: string): readonly Authorizer[] }
}

export async function waitingCall(
  deps: ApprovalApiDeps,
  request: IncomingMessage,
  { userId }: Visitor,
): Promise<object> {
  const { approval_id } = await readJson(request, waitingCallBody)
  return callJson(deps, requireWaiting(deps, approval_id, userId), userId)
}

export async function approveCall(
  deps: ApprovalApiDeps,
  request: IncomingMessage,
  { userId }: Visitor,
): Promise<object> {
  const { approval_id, proof } = await readJson(request, approveCallBody)
  requireWaiting(deps, approval_id, userId)
  const by = { personId: userId, accountId: null, at: 'page' } as const
  await deps.approvals.approve(approval_id, encodeProof(proof), by)
  return callJson(deps, requireWaiting(deps, approval_id, userId), userId)
}

export async function declineCall(
  deps: ApprovalApiDeps,
  request: IncomingMessage,
  { userId }: Visitor,
): Promise<object> {
  const { approval_id, comment } = await readJson(request, declineCallBody)
  requireWaiting(deps, approval_id, userId)
  await deps.approvals.decline(approval_id, userId, comment === '' ? null : comment)
  return callJson(deps, requireWaiting(deps, approval_id, userId), userId)
}

/** @throws Refusal APPROVAL_UNKNOWN, also for another user's approval */
function requireWaiting(
  { approvals }: ApprovalApiDeps,
  approvalId: Uint8Array,
  userId: string,
): SeenApproval {
  const waiting = approvals.waiting(approvalId, userId)
  if (waiting === null) throw new Refusal('APPROVAL_UNKNOWN', 'no such approval of yours')
  return waiting
}

function callJson({ ceremonies }: ApprovalApiDeps, waiting: SeenApproval, userId: string) {
  const authorizers = ceremonies.list(userId)
  const facts = { waiting, nowMs: Date.now() }
  return {
    approval_id: approvalIdOf(waiting),
    state: stateOf(facts),
    term: base64Url(waiting.row.term),
    challenge: base64Url(sha256(approvalTermMessage(waiting.row.term))),
    expires_at: new Date(waiting.term.expiresAtMs).toISOString(),
    lines: linesOf(facts).map(([name, value]) => ({ name, value })),
    authorizers: authorizers.map(authorizerJson),
  }
}
