import { encodeApprovalEvidence } from '../custody/approvals/approval-evidence.js'
import {
  type ApprovalTerm,
  approvalTermMessage,
  encodeApprovalTerm,
} from '../custody/approvals/approval-term.js'
import { authorizerIdOfName, authorizerName } from '../custody/authorizers/authorizer.js'
import type { EvidenceLog } from '../custody/evidence/evidence-log.js'
import { EVIDENCE_KIND } from '../custody/evidence/stored-evidence.js'
import type { HoldersNow } from '../domain/approval.js'
import type { ApprovalId, SubWalletId } from '../domain/ids.js'
import { ID_PREFIX, ulidBytes, ulidOfBytes } from '../domain/ids.js'
import { expectInteger } from '../quorum-protocol/bytes.js'
import type { SocketClient } from '../quorum-protocol/client.js'
import type { APPROVALS } from '../quorum-protocol/methods/approvals.js'
import { askUserSide } from '../quorum-protocol/methods/ask.js'
import type { ResultOf } from '../quorum-protocol/methods/method.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type {
  ApprovalDecisions,
  ApprovalGiven,
  ApprovalRegistration,
  ApprovalUpdate,
  EndedApprovalAt,
} from './approval-messages.js'
import type { SignApproval } from './co-signer.js'
import type { GrantAuthority } from './grant-authority.js'
import type { RemoteMembers } from './members.js'

/** The service's side of human approvals, which the identity provider keeps and judges. */
interface RemoteApprovals {
  register(registration: ApprovalRegistration): Promise<void>
  approve(update: ApprovalUpdate): Promise<ApprovalGiven>
  end(ended: EndedApprovalAt): Promise<void>
  decisions(after: string | null): Promise<ApprovalDecisions>
  /** Sends proofs that the identity provider lacks, for example after it was restored. */
  tellProofs(approval: SignApproval): Promise<void>
}

type Decision = ResultOf<(typeof APPROVALS)['approval-decisions']>[number]

/** The approval's id binds a proof to its call, so the version never changes. */
const VERSION = 1

export interface ApprovalsContext {
  readonly userSide: SocketClient
  readonly authority: GrantAuthority
  readonly evidence: EvidenceLog
  readonly members: Pick<RemoteMembers, 'approversBy'>
  readonly nowMs: () => number
}

export function createRemoteApprovals({
  userSide,
  authority,
  evidence,
  members,
  nowMs,
}: ApprovalsContext): RemoteApprovals {
  function record(
    action: 'asked' | 'approved',
    term: ApprovalTerm,
    rest: Uint8Array,
  ): Promise<void> {
    const body = encodeApprovalEvidence({ action, term: encodeApprovalTerm(term), rest })
    return evidence.append({ timeMs: nowMs(), kind: EVIDENCE_KIND.approval, body })
  }

  /** Who may approve with each of these authorizers now: earlier approvals count only for them. */
  function holdersNow(userId: string, authorizers: readonly string[]): HoldersNow {
    const found: Record<string, readonly string[]> = {}
    for (const name of authorizers) {
      const id = authorizerIdOfName(name)
      const holders = id === null ? null : members.approversBy(userId, id)
      if (holders !== null) found[name] = holders
    }
    return found
  }

  return {
    async register(registration) {
      const { term } = registration
      await askUserSide(userSide, 'approval-ask', {
        term: encodeApprovalTerm(term),
        userId: registration.userId,
        call: registration.call,
        needed: registration.needed,
        delaySeconds: registration.delaySeconds,
        rule: registration.rule,
        spendUsd: registration.spendUsd,
        keyProof: registration.keyProof,
        payeeLabel: registration.payeeLabel ?? null,
        askedAgain: registration.askedAgain ?? null,
        names: registration.names ?? null,
      })
      await record('asked', term, Buffer.alloc(0))
    },
    async approve({ term, userId, consoleToken, authorization, earlier }) {
      const statement = encodeApprovalTerm(term)
      const confirmBeforeMs = term.expiresAtMs
      const id = `${ID_PREFIX.approval}${ulidOfBytes(term.approvalId)}`
      const proof = await authority.proofOver(
        {
          userId,
          power: 'approve',
          version: VERSION,
          authorization:
            authorization === null ? null : { ...authorization, version: VERSION, confirmBeforeMs },
          statementUntil: () => statement,
          messageOf: approvalTermMessage,
          confirmUntil: confirmBeforeMs,
          confirmPath: `/approve/${id}`,
        },
        nowMs(),
      )
      const { authorizerId, proof: taken } = await askUserSide(userSide, 'approval-give', {
        approvalId: term.approvalId,
        proof,
        consoleToken: proof === null ? consoleToken : '',
      })
      const message = approvalTermMessage(statement)
      const authorizedBy = await authority.accepted(userId, taken, message, 'approve')
      await record('approved', term, taken)
      return {
        ...{ authorizerId: nameOf(authorizerId), authorizedBy, proof: Buffer.from(taken) },
        personIds: authorizerId.length === 0 ? null : members.approversBy(userId, authorizerId),
        holdersNow: holdersNow(userId, earlier),
      }
    },
    async end({ approvalId, as }) {
      await askUserSide(userSide, 'approval-end', { approvalId: ulidBytes(approvalId), as })
    },
    async decisions(after) {
      const from = after === null ? 0 : expectInteger(Number(after))
      const found = await askUserSide(userSide, 'approval-decisions', { after: from })
      return {
        decisions: found.map(readDecision),
        cursor: String(found.at(-1)?.number ?? from),
      }
    },
    async tellProofs({ approvalId, proofs }) {
      for (const proof of proofs) {
        try {
          const given = { approvalId: ulidBytes(approvalId), proof, consoleToken: '' }
          await askUserSide(userSide, 'approval-give', given)
        } catch (error) {
          // This authorizer was removed; the remaining proofs may be enough.
          if (!(error instanceof Refusal && error.code === 'NOT_CONFIRMED')) throw error
        }
      }
    },
  }
}

function readDecision({
  approvalId,
  walletId,
  userId,
  decision,
  authorizerId,
  atMs,
  comment,
  proof,
}: Decision): ApprovalDecisions['decisions'][number] {
  return {
    approvalId: `${ID_PREFIX.approval}${ulidOfBytes(approvalId)}` as ApprovalId,
    subWalletId: `${ID_PREFIX.subWallet}${ulidOfBytes(walletId)}` as SubWalletId,
    userId,
    decision,
    authorizerId: nameOf(authorizerId),
    atMs,
    comment,
    proof: proof.length === 0 ? null : Buffer.from(proof),
  }
}

/** Returns null for dev's software authorizer and where a sign-in was enough. */
function nameOf(authorizerId: Uint8Array): string | null {
  return authorizerId.length === 0 ? null : authorizerName(authorizerId)
}
