import { createHash } from 'node:crypto'
import {
  approvalKeyProof,
  encodeApprovalTerm,
  isSameCall,
  readApprovalTerm,
} from '../../src/custody/approvals/approval-term.js'
import { type AuthorizerSet, NO_AUTHORIZERS } from '../../src/custody/authorizers/authorizer-set.js'
import {
  type ApprovalId,
  ID_PREFIX,
  type SubWalletId,
  ulidBytes,
  ulidOfBytes,
} from '../../src/domain/ids.js'
import { FaultError, fault } from '../../src/errors/fault.js'
import type { ApprovalRow } from '../../src/identity-provider/vault/approval-rows.js'
import { Refusal } from '../../src/quorum-protocol/refusal.js'
import type {
  ApprovalDecisions,
  ApprovalGiven,
  ApprovalRegistration,
  ApprovalUpdate,
  EndedApprovalAt,
} from '../../src/service-custody/approval-messages.js'

type Decision = ApprovalDecisions['decisions'][number]

/** People who decide about calls, and whose passkeys the user side knows. */
export const PEOPLE = ['alice', 'bob'] as const
export type Person = (typeof PEOPLE)[number]

/**
 * Calls that wait, as the user side has them. What an approval has come to when a call is to be signed
 * is judged by its own code; a person's word is their name in place of a signature.
 */
export class QuorumApprovals {
  readonly #rows = new Map<string, ApprovalRow>()
  readonly #decisions: Decision[] = []

  rowOf(approvalId: ApprovalId): ApprovalRow | null {
    return this.#rows.get(nameOf(ulidBytes(approvalId))) ?? null
  }

  /** @throws Refusal */
  ask(request: ApprovalRegistration, proofKey: Uint8Array | null, nowMs: number): void {
    const { term, userId, call, needed, delaySeconds, rule, spendUsd } = request
    if (term.expiresAtMs <= nowMs) throw new Refusal('APPROVAL_EXPIRED', 'asked for too late')
    if (proofKey === null || !isSame(approvalKeyProof(proofKey, term, call), request.keyProof)) {
      throw new Refusal('KEY_PROOF_MISSING', 'no proof of the API key')
    }
    const encoded = encodeApprovalTerm(term)
    const name = nameOf(term.approvalId)
    const before = this.#rows.get(name)
    if (before !== undefined && before.ended !== null) {
      throw new Refusal('APPROVAL_DECLINED', before.ended.as)
    }
    if (before !== undefined && isSame(before.term, encoded)) return
    const isAgain = before !== undefined && isSameCall(before.term, encoded)
    this.#rows.set(name, {
      ...{ term: encoded, userId, needed, delaySeconds, rule, spendUsd },
      ...{ payeeLabel: null, askedAgain: null, approvals: [], ended: null },
      askedAtMs: isAgain ? before.askedAtMs : nowMs,
    })
  }

  /** @throws FaultError or Refusal */
  approve({ term, authorization, consoleToken }: ApprovalUpdate, nowMs: number): ApprovalGiven {
    const row = this.#undecided(term.approvalId, nowMs)
    if (!isSame(row.term, encodeApprovalTerm(term))) {
      throw new FaultError(fault('AUTHORIZATION_REFUSED', { reason: 'of another term' }))
    }
    const proof = authorization?.proof ?? keyOf(consoleToken as Person)
    this.#give(term.approvalId, row, proof, nowMs)
    const authorizerId = nameOfPerson(proof)
    return { authorizerId, personIds: null, authorizedBy: 'passkey', proof }
  }

  /** At the user side's own page, without the service. */
  decideAtPage(
    approvalId: ApprovalId,
    person: Person,
    decision: 'approve' | 'decline',
    nowMs: number,
  ): boolean {
    const id = ulidBytes(approvalId)
    const row = this.#rows.get(nameOf(id))
    if (row === undefined || row.ended !== null) return false
    const { statement } = readApprovalTerm(row.term)
    if (statement.expiresAtMs <= nowMs) return false
    const proof = keyOf(person)
    if (decision === 'approve') this.#give(id, row, proof, nowMs)
    else
      this.#rows.set(nameOf(id), { ...row, ended: { as: 'declined', atMs: nowMs, comment: null } })
    const subWalletId = `${ID_PREFIX.subWallet}${ulidOfBytes(statement.walletId)}` as SubWalletId
    this.#decisions.push({
      ...{ approvalId, subWalletId, userId: row.userId, decision, atMs: nowMs, comment: null },
      authorizerId: nameOfPerson(proof),
      proof: decision === 'approve' ? proof : null,
    })
    return true
  }

  end({ approvalId, as }: EndedApprovalAt, nowMs: number): void {
    const name = nameOf(ulidBytes(approvalId))
    const row = this.#rows.get(name)
    if (row === undefined || row.ended !== null) return
    this.#rows.set(name, { ...row, ended: { as, atMs: nowMs, comment: null } })
  }

  decisionsAfter(after: string | null): ApprovalDecisions {
    const from = after === null ? 0 : Number(after)
    const decisions = this.#decisions.slice(from, from + 64)
    return { decisions, cursor: String(from + decisions.length) }
  }

  approval(id: Uint8Array): ApprovalRow | null {
    return this.#rows.get(nameOf(id)) ?? null
  }

  #give(id: Uint8Array, row: ApprovalRow, proof: Uint8Array, atMs: number): void {
    if (row.approvals.some(({ authorizerId }) => isSame(authorizerId, proof))) return
    const approvals = [...row.approvals, { authorizerId: proof, proof, atMs }]
    this.#rows.set(nameOf(id), { ...row, approvals })
  }

  #undecided(id: Uint8Array, nowMs: number): ApprovalRow {
    const row = this.#rows.get(nameOf(id))
    if (row === undefined) throw new Refusal('APPROVAL_UNKNOWN', 'no such approval')
    if (row.ended !== null) throw new Refusal('APPROVAL_DECLINED', row.ended.as)
    if (readApprovalTerm(row.term).statement.expiresAtMs <= nowMs) {
      throw new Refusal('APPROVAL_EXPIRED', 'nobody decided in time')
    }
    return row
  }
}

/** Whom the user side knows; nobody's passkey is asked for a signature. */
export const AUTHORIZERS: AuthorizerSet = {
  ...NO_AUTHORIZERS,
  active: PEOPLE.map((person) => ({
    ...{ id: keyOf(person), kind: 'passkey', label: person, createdAtMs: 0 },
    ...{ credentialId: keyOf(person), publicKey: keyOf(person) },
  })),
}

/** 16 bytes. */
function keyOf(person: Person): Uint8Array {
  return createHash('sha256').update(person).digest().subarray(0, 16)
}

function nameOfPerson(key: Uint8Array): string {
  return `aut_${Buffer.from(key).toString('hex')}`
}

function nameOf(id: Uint8Array): string {
  return Buffer.from(id).toString('hex')
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0
}
