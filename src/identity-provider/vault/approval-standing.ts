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

/** How far an approval has come when its call is judged. */
export interface ApprovalStanding {
  /** How many distinct people approved it and may still approve; see `Persons`. */
  readonly people: number
  /** Milliseconds since the service reported the call, by this domain's clock. */
  readonly waitedMs: number
}

interface RestingIntent {
  readonly intent: Pick<Intent, 'walletId' | 'keyId' | 'approval'>
  readonly payload: DecodedPayload
  readonly wallet: { readonly certificate: Pick<Certificate, 'ownerHash'> }
}

interface StandingContext {
  readonly registry: Pick<Registry, 'softwareAuthorizer'>
  readonly ledger: { readonly approvals: Pick<ApprovalReader, 'approval' | 'approvalUse'> }
  readonly persons: Persons
}

/**
 * Checks an approval against the call that depends on it.
 * @returns null for an intent without an approval
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

/** Returns the people who approved it and may still approve: a removed member no longer counts. */
export function peopleOf(
  { approvals }: Pick<ApprovalRow, 'approvals'>,
  ownerHash: Uint8Array,
  { persons, registry }: Pick<StandingContext, 'persons' | 'registry'>,
): number {
  const given = approvals.map(({ authorizerId }) => authorizerId)
  const own = given.filter((id) => id.length > 0)
  const people = persons.countOf(ownerHash, 'approve', own)
  // Dev's software authorizer counts for users without an authorizer of their own.
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

/** @throws Refusal APPROVAL_MISMATCH: the gas and fee of a replacement count too */
export function requireGas(payload: DecodedPayload, maxNativeWei: bigint): void {
  if (payload.kind !== 'transaction') return
  if (payload.gasLimit * payload.maxFeePerGasWei > maxNativeWei) {
    throw new Refusal('APPROVAL_MISMATCH', 'more gas than was approved')
  }
}

/**
 * Returns what uses an approval up: a nonce of its chain, or one of the chain's Router. Null for a
 * delegation, which moves nothing: every call that it enables needs its own signature.
 */
export function placeOf(payload: DecodedPayload): Uint8Array | null {
  if (payload.kind === 'authorization') return null
  const { chainId } = payload
  if (payload.kind === 'router-intent') return concat(u32(chainId), payload.nonce)
  return concat(u32(chainId), u64(payload.nonce))
}

/**
 * @throws Refusal APPROVAL_USED unless the intent's nonce belongs to the approval; the Router
 * executes each nonce once
 */
export function requireOwnNonce(payload: DecodedPayload, approvalId: Uint8Array): void {
  if (payload.kind !== 'router-intent') return
  if (bigintOf(payload.nonce) !== approvalNonce(approvalId)) {
    throw new Refusal('APPROVAL_USED', 'a nonce of the Router that is not its own')
  }
}

type Resting = Pick<Intent, 'walletId' | 'keyId'> & { readonly approval: IntentApproval }

/**
 * Tells whether the approved term covers this intent. The approval of a Router intent also covers
 * the delegation that its account may need first.
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

/** Builds the term from the bytes of a call or an intent. */
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

/** Ties the approval to this place for good. A delegation does not use it up. */
export function bindApproval(
  { approval }: Pick<Intent, 'approval'>,
  payload: DecodedPayload,
  writer: Pick<ApprovalWriter, 'putApprovalUse'>,
): void {
  const place = approval === null ? null : placeOf(payload)
  if (approval !== null && place !== null) writer.putApprovalUse(approval.approvalId, place)
}
