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
import { expectBytes, expectInteger, expectList } from '../quorum-protocol/bytes.js'
import type { SocketClient } from '../quorum-protocol/client.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import { fromHex } from '../quorum-protocol/transaction.js'
import type {
  ApprovalDecisions,
  ApprovalGiven,
  ApprovalRegistration,
  ApprovalUpdate,
  CallNames,
  EndedApprovalAt,
} from './approval-messages.js'
import type { SignApproval } from './co-signer.js'
import type { GrantAuthority } from './grant-authority.js'
import type { RemoteMembers } from './members.js'

/** The service's side of human approvals, which the identity provider keeps and judges. */
export interface RemoteApprovals {
  register(registration: ApprovalRegistration): Promise<void>
  approve(update: ApprovalUpdate): Promise<ApprovalGiven>
  end(ended: EndedApprovalAt): Promise<void>
  decisions(after: string | null): Promise<ApprovalDecisions>
  /** Sends proofs that the identity provider lacks, for example after it was restored. */
  tellProofs(approval: SignApproval): Promise<void>
}

/** The identity provider sends at most this many in one answer. */
const DECISIONS_PER_ANSWER = 64
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
      const { term, userId, call, needed, delaySeconds, rule, spendUsd, keyProof } = registration
      await userSide.call('approval-ask', [
        ...[encodeApprovalTerm(term), userId, call, needed, delaySeconds, rule, spendUsd],
        ...[keyProof, registration.payeeLabel ?? null, registration.askedAgain ?? null],
        namesParts(registration.names ?? null),
      ])
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
      const token = proof === null ? consoleToken : ''
      const answer = await userSide.call('approval-give', [term.approvalId, proof, token])
      const [authorizerId, taken] = expectList(answer, 2).map((part) => expectBytes(part))
      if (authorizerId === undefined || taken === undefined) {
        throw new Refusal('MALFORMED', 'approval')
      }
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
      await userSide.call('approval-end', [ulidBytes(approvalId), as])
    },
    async decisions(after) {
      const from = after === null ? 0 : Number(after)
      const answer = await userSide.call('approval-decisions', [expectInteger(from)])
      const found = expectList(answer, DECISIONS_PER_ANSWER).map(readDecision)
      return {
        decisions: found.map(({ decision }) => decision),
        cursor: String(found.at(-1)?.number ?? from),
      }
    },
    async tellProofs({ approvalId, proofs }) {
      for (const proof of proofs) {
        try {
          await userSide.call('approval-give', [ulidBytes(approvalId), proof, ''])
        } catch (error) {
          // This authorizer was removed; the remaining proofs may be enough.
          if (!(error instanceof Refusal && error.code === 'NOT_CONFIRMED')) throw error
        }
      }
    },
  }
}

function readDecision(parts: unknown): {
  readonly number: number
  readonly decision: ApprovalDecisions['decisions'][number]
} {
  const [number, approvalId, walletId, userId, decision, authorizerId, atMs, comment, proof] =
    expectList(parts, 9)
  if (decision !== 'approve' && decision !== 'decline') throw malformed()
  if (typeof userId !== 'string' || (comment !== null && typeof comment !== 'string')) {
    throw malformed()
  }
  const taken = Buffer.from(expectBytes(proof))
  return {
    number: expectInteger(number),
    decision: {
      approvalId: idOf(ID_PREFIX.approval, approvalId) as ApprovalId,
      subWalletId: idOf(ID_PREFIX.subWallet, walletId) as SubWalletId,
      userId,
      decision,
      authorizerId: nameOf(expectBytes(authorizerId)),
      atMs: expectInteger(atMs),
      comment,
      proof: taken.length === 0 ? null : taken,
    },
  }
}

function idOf(prefix: string, bytes: unknown): string {
  return `${prefix}${ulidOfBytes(expectBytes(bytes, 16))}`
}

/** Returns null for dev's software authorizer and where a sign-in was enough. */
function nameOf(authorizerId: Uint8Array): string | null {
  return authorizerId.length === 0 ? null : authorizerName(authorizerId)
}

function malformed(): Refusal {
  return new Refusal('MALFORMED', 'decision')
}

/** Encodes names in the form that the identity provider's `parseNames` reads. */
function namesParts(names: CallNames | null): unknown {
  if (names === null) return null
  const tokens = names.tokens.map(({ address, symbol, decimals }) => [
    fromHex(address as `0x${string}`),
    symbol,
    decimals,
  ])
  return [names.agent, names.wallet, tokens]
}
