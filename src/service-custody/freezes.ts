import {
  encodeFreezeStatement,
  type FreezeStatement,
  freezeMessage,
  subjectOfId,
} from '../custody/authorizers/freeze-statement.js'
import type { EvidenceLog } from '../custody/evidence/evidence-log.js'
import { EVIDENCE_KIND } from '../custody/evidence/stored-evidence.js'
import { ulidBytes } from '../domain/ids.js'
import { concat, sameBytes } from '../quorum-protocol/bytes.js'
import type { SocketClient } from '../quorum-protocol/client.js'
import { askUserSide } from '../quorum-protocol/methods/ask.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { FrozenSubject, GrantOutcome, StoppedSubject, UnfreezeUpdate } from './co-signer.js'
import { type GrantAuthority, ownerHashOf } from './grant-authority.js'
import type { PreparedIntent } from './sign-batch.js'

/** Sets freezes at the identity provider, and has them lifted. */
interface RemoteFreezes {
  freeze(frozen: FrozenSubject): Promise<void>
  unfreeze(update: UnfreezeUpdate): Promise<GrantOutcome>
}

export function createRemoteFreezes(
  userSide: SocketClient,
  authority: GrantAuthority,
  evidence: EvidenceLog,
  nowMs: () => number,
): RemoteFreezes {
  function record(statement: FreezeStatement, proof: Uint8Array): Promise<void> {
    const body = concat(encodeFreezeStatement(statement), proof)
    return evidence.append({ timeMs: nowMs(), kind: EVIDENCE_KIND.freeze, body })
  }

  return {
    async freeze(frozen) {
      const { userId } = frozen
      const subject = subjectOf(frozen)
      const { sequence } = await askUserSide(userSide, 'freeze-put', { ...subject, userId })
      const of = { ...subject, ownerHash: ownerHashOf(userId), sequence }
      await record({ action: 'freeze', ...of, confirmBeforeMs: 0 }, Buffer.alloc(0))
    },
    async unfreeze(update) {
      const { userId, consoleToken, authorization } = update
      const subject = subjectOf(update)
      const present = await askUserSide(userSide, 'freeze-get', subject)
      const sequence = present.sequence + 1
      const of = { ...subject, ownerHash: ownerHashOf(userId), sequence }
      const statementOf = (confirmBeforeMs: number): FreezeStatement => {
        return { action: 'unfreeze', ...of, confirmBeforeMs }
      }
      const proof = await authority.proofOver(
        {
          ...{ userId, authorization, version: sequence },
          statementUntil: (confirmBeforeMs) => encodeFreezeStatement(statementOf(confirmBeforeMs)),
          messageOf: freezeMessage,
        },
        nowMs(),
      )
      const confirmBeforeMs = authorization?.confirmBeforeMs ?? 0
      const taken = await askUserSide(userSide, 'freeze-lift', {
        ...subject,
        userId,
        consoleToken,
        confirmation: proof,
        confirmBeforeMs,
        sequence,
      })
      if (taken.sequence !== sequence) throw new Refusal('CONFLICT', 'another freeze was lifted')
      const lifted = statementOf(confirmBeforeMs)
      const message = freezeMessage(encodeFreezeStatement(lifted))
      const authorizedBy = await authority.accepted(userId, taken.proof, message)
      await record(lifted, taken.proof)
      return { authorizedBy }
    },
  }
}

/** Tells whether a freeze stops a waiting intent. Replacements carry no proof of the key. */
export function isStopped({
  scope,
  userId,
  walletId,
  lineageIds,
}: StoppedSubject): (intent: PreparedIntent) => boolean {
  const ownerHash = ownerHashOf(userId)
  const wallet = walletId === null ? null : ulidBytes(walletId)
  const grants = new Set(Array.from(lineageIds, (lineageId) => hex(ulidBytes(lineageId))))
  return (intent) => {
    if (intent.proofKey === null && intent.approval === null) return false
    if (scope === 'user') return sameBytes(intent.wallet.certificate.ownerHash, ownerHash)
    if (wallet !== null) return sameBytes(intent.walletId, wallet)
    return intent.grant !== null && grants.has(hex(intent.grant.grantId))
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function subjectOf({ scope, userId, walletId, lineageId }: FrozenSubject) {
  if (walletId !== null) return { scope, subject: subjectOfId(ulidBytes(walletId)) }
  if (lineageId !== null) return { scope, subject: subjectOfId(ulidBytes(lineageId)) }
  return { scope, subject: ownerHashOf(userId) }
}
