import { Refusal } from '../../quorum-protocol/refusal.js'
import {
  approvalTermMessage,
  isApprovalTerm,
  readApprovalTerm,
} from '../approvals/approval-term.js'
import { describeApproval } from '../approvals/approval-words.js'
import {
  describeMember,
  isMemberStatement,
  memberMessage,
  readMemberStatement,
  signedForOf,
} from '../members/member-statement.js'
import { describeGrant } from './describe-grant.js'
import {
  describeFreeze,
  freezeMessage,
  isFreezeStatement,
  readFreezeStatement,
} from './freeze-statement.js'
import { grantMessage, readGrantStatement } from './grant-statement.js'

/** A statement of any kind that a user's authorizer is asked to sign. */
export interface Confirmable {
  readonly kind: 'grant' | 'unfreeze' | 'approval' | 'member' | 'join'
  /** The statement's bytes: the page shows what is signed. */
  readonly encoded: Uint8Array
  /** What a P-256 authorizer signs; a passkey's challenge is its SHA-256. */
  readonly message: Buffer
  /**
   * 32 bytes: SHA-256 of the account's id, or of the person's id when an invitation is accepted.
   */
  readonly ownerHash: Uint8Array
  readonly confirmBeforeMs: number
  /** The description: name and value of each line. */
  readonly lines: readonly (readonly [name: string, value: string])[]
}

/**
 * @throws Refusal MALFORMED unless the bytes are exactly one statement that needs a confirmation
 */
export function readConfirmable(bytes: Uint8Array): Confirmable {
  const read = readerOf(bytes)(bytes)
  if (read.rest.length > 0) throw new Refusal('MALFORMED', 'trailing bytes')
  return read.confirmable
}

function readerOf(bytes: Uint8Array) {
  if (isFreezeStatement(bytes)) return readFreeze
  if (isMemberStatement(bytes)) return readMember
  return isApprovalTerm(bytes) ? readApproval : readGrant
}

function readApproval(bytes: Uint8Array) {
  const { statement, encoded, rest } = readApprovalTerm(bytes)
  const { ownerHash, expiresAtMs: confirmBeforeMs } = statement
  const confirmable: Confirmable = {
    ...{ kind: 'approval', encoded, message: approvalTermMessage(encoded) },
    ...{ ownerHash, confirmBeforeMs, lines: describeApproval(statement) },
  }
  return { confirmable, rest }
}

function readFreeze(bytes: Uint8Array) {
  const { statement, encoded, rest } = readFreezeStatement(bytes)
  if (statement.action !== 'unfreeze') throw new Refusal('MALFORMED', 'a freeze needs no proof')
  const { ownerHash, confirmBeforeMs } = statement
  const confirmable: Confirmable = {
    ...{ kind: 'unfreeze', encoded, message: freezeMessage(encoded) },
    ...{ ownerHash, confirmBeforeMs, lines: describeFreeze(statement) },
  }
  return { confirmable, rest }
}

function readGrant(bytes: Uint8Array) {
  const { statement, encoded, rest } = readGrantStatement(bytes)
  const { ownerHash, confirmBeforeMs } = statement
  const confirmable: Confirmable = {
    ...{ kind: 'grant', encoded, message: grantMessage(encoded) },
    ...{ ownerHash, confirmBeforeMs, lines: describeGrant(statement) },
  }
  return { confirmable, rest }
}

function readMember(bytes: Uint8Array) {
  const { statement, encoded, rest } = readMemberStatement(bytes)
  const { action, confirmBeforeMs } = statement
  if (action === 'remove') throw new Refusal('MALFORMED', 'what takes away needs no proof')
  const kind = action === 'accept' ? 'join' : 'member'
  const confirmable: Confirmable = {
    ...{ kind, encoded, message: memberMessage(encoded) },
    ...{ ownerHash: signedForOf(statement), confirmBeforeMs, lines: describeMember(statement) },
  }
  return { confirmable, rest }
}
