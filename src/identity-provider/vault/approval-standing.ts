import {
  type ApprovalTerm,
  encodeApprovalTerm,
  readApprovalTerm,
} from '../../custody/approvals/approval-term.js'
import { intentTermsHash } from '../../custody/approvals/intent-terms.js'
import type { Persons } from '../../custody/members/persons.js'
import { approvalNonce } from '../../domain/approval.js'
import { keccak256 } from '../../domain/keccak.js'
import { bigintOf, concat, sameBytes, u32, u64 } from '../../quorum-protocol/bytes.js'
import type { Intent, IntentApproval } from '../../quorum-protocol/intent.js'
import type { Certificate } from '../../quorum-protocol/keygen.js'
import type { DecodedPayload } from '../../quorum-protocol/payload.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import type { ApprovalReader, ApprovalRow, ApprovalWriter } from './approval-rows.js'

/** What an approval has come to when the call that it is for is judged. */
export interface ApprovalStanding {
  /** People who approved it and may by now, each once; see `Persons`. */
  readonly people: number
  /** Since the user side was told of it, by its own clock. */
  readonly waitedMs: number
}

export interface RestingIntent {
  readonly intent: Pick<Intent, 'walletId' | 'keyId' | 'approval'>
  readonly payload: DecodedPayload
  readonly wallet: { readonly certificate: Pick<Certificate, 'ownerHash'> }
}

export interface StandingContext {
  readonly registry: Pick<Registry, 'softwareAuthorizer'>
  readonly ledger: { readonly approvals: Pick<ApprovalReader, 'approval' | 'approvalUse'> }
  readonly persons: Persons
}

/**
 * Holds an approval against the call that rests on it.
 * @returns null of an intent that rests on none
 * @throws Refusal APPROVAL_UNKNOWN, _MISMATCH, _EXPIRED, _DECLINED, _USED, _MISSING or _EARLY
 */
export function standingOf(
  { intent, payload, wallet }: RestingIntent,
  context: StandingContext,
  nowMs: number,
): ApprovalStanding | null {
  const { approval } = intent
  if (approval === null) return null
  const { ownerHash } = wallet.certificate
  const { approvals } = context.ledger
  const row = approvals.approval(approval.approvalId)
  if (row === null) throw new Refusal('APPROVAL_UNKNOWN', 'never asked for here')
  const resting = { ...intent, approval }
  if (!isCovered(resting, payload, ownerHash, row.term)) {
    throw new Refusal('APPROVAL_MISMATCH', 'another call was approved')
  }
  requireOwnNonce(payload, approval.approvalId)
  requireGas(payload, approval.maxNativeWei)
  if (approval.expiresAtMs <= nowMs) throw new Refusal('APPROVAL_EXPIRED', 'approval')
  if (row.ended !== null) {
    throw new Refusal('APPROVAL_DECLINED', row.ended.as)
  }
  const [use, place] = [approvals.approvalUse(approval.approvalId), placeOf(payload)]
  if (use !== null && place !== null && !sameBytes(use, place)) {
    throw new Refusal('APPROVAL_USED', 'it was used for another signature')
  }
  const people = peopleOf(row, ownerHash, context)
  const waitedMs = nowMs - row.askedAtMs
  if (people < row.needed) throw tooFew(people, row.needed)
  if (waitedMs < row.delaySeconds * 1_000) throw tooEarly()
  return { people, waitedMs }
}

/** Those who approved it and may by now: a member who was removed since counts no more. */
export function peopleOf(
  { approvals }: Pick<ApprovalRow, 'approvals'>,
  ownerHash: Uint8Array,
  { persons, registry }: Pick<StandingContext, 'persons' | 'registry'>,
): number {
  const given = approvals.map(({ authorizerId }) => authorizerId)
  const own = given.filter((id) => id.length > 0)
  const people = persons.countOf(ownerHash, 'approve', own)
  // Dev's software authorizer counts for users without one of their own.
  const software =
    own.length < given.length &&
    registry.softwareAuthorizer !== null &&
    persons.authorizersOf(ownerHash, 'approve').length === 0
  return software ? people + 1 : people
}

export function tooFew(people: number, needed: number): Refusal {
  return new Refusal('APPROVAL_MISSING', `${people} of ${needed} approved it`)
}

export function tooEarly(): Refusal {
  return new Refusal('APPROVAL_EARLY', 'its delay is not over')
}

/** @throws Refusal APPROVAL_MISMATCH: gas and fee of a replacement count too */
export function requireGas(payload: DecodedPayload, maxNativeWei: bigint): void {
  if (payload.kind !== 'transaction') return
  if (payload.gasLimit * payload.maxFeePerGasWei > maxNativeWei) {
    throw new Refusal('APPROVAL_MISMATCH', 'more gas than was approved')
  }
}

/**
 * What an approval is used up by: a nonce of its chain, or one of the chain's Router. Null of a
 * delegation, which moves nothing: each call that it opens needs a signature of its own.
 */
export function placeOf(payload: DecodedPayload): Uint8Array | null {
  if (payload.kind === 'authorization') return null
  const { chainId } = payload
  if (payload.kind === 'router-intent') return concat(u32(chainId), payload.nonce)
  return concat(u32(chainId), u64(payload.nonce))
}

/** @throws Refusal APPROVAL_USED: the Router executes one intent at the nonce that is the approval's */
export function requireOwnNonce(payload: DecodedPayload, approvalId: Uint8Array): void {
  if (payload.kind !== 'router-intent') return
  if (bigintOf(payload.nonce) !== approvalNonce(approvalId)) {
    throw new Refusal('APPROVAL_USED', 'a nonce of the Router that is not its own')
  }
}

type Resting = Pick<Intent, 'walletId' | 'keyId'> & { readonly approval: IntentApproval }

/**
 * Whether people who approved a term approved this; with a Router intent also the delegation that
 * it needs where its account has none yet.
 * @param term canonical bytes
 */
export function isCovered(
  intent: Resting,
  payload: DecodedPayload,
  ownerHash: Uint8Array,
  term: Uint8Array,
): boolean {
  if (payload.kind !== 'authorization') {
    return sameBytes(encodeApprovalTerm(termOf(intent, payload, ownerHash)), term)
  }
  const { walletId, keyId, approval } = intent
  const { statement } = readApprovalTerm(term)
  const { chainId } = payload
  const own = { ...statement, ...approval, walletId, keyId, ownerHash, chainId }
  return statement.kind === 'intent' && sameBytes(encodeApprovalTerm(own), term)
}

/** The term that a call's or an intent's own bytes come to. */
export function termOf(
  { walletId, keyId, approval }: Resting,
  payload: Exclude<DecodedPayload, { kind: 'authorization' }>,
  ownerHash: Uint8Array,
): ApprovalTerm {
  const { chainId } = payload
  const of = { ...approval, walletId, keyId, ownerHash, chainId }
  if (payload.kind === 'transaction') {
    const { to, value, data } = payload
    return { kind: 'transaction', ...of, to, value, hash: keccak256(data) }
  }
  return { kind: 'intent', ...of, to: payload.target, value: 0n, hash: intentTermsHash(payload) }
}

/** From now on it is good for this place alone; a delegation uses nothing up. */
export function bindApproval(
  { approval }: Pick<Intent, 'approval'>,
  payload: DecodedPayload,
  writer: Pick<ApprovalWriter, 'putApprovalUse'>,
): void {
  const place = approval === null ? null : placeOf(payload)
  if (approval !== null && place !== null) writer.putApprovalUse(approval.approvalId, place)
}
