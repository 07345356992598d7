import { type ApprovalTerm, encodeApprovalTerm } from '../../custody/approvals/approval-term.js'
import { intentTermsHash } from '../../custody/approvals/intent-terms.js'
import type { AuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import { keccak256 } from '../../domain/keccak.js'
import { concat, sameBytes, u32, u64 } from '../../quorum-protocol/bytes.js'
import type { Intent, IntentApproval } from '../../quorum-protocol/intent.js'
import type { Certificate } from '../../quorum-protocol/keygen.js'
import type { DecodedPayload } from '../../quorum-protocol/payload.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import type { ApprovalRow } from './approval-rows.js'
import type { LedgerStore } from './ledger-store.js'

/** What an approval has come to when the call that it is for is judged. */
export interface ApprovalStanding {
  /** Authorizers of the user by now who approved it, each once. */
  readonly people: number
  /** Since the user side was told of it, by its own clock. */
  readonly waitedMs: number
}

export interface RestingIntent {
  readonly intent: Intent
  readonly payload: DecodedPayload
  readonly wallet: { readonly certificate: Pick<Certificate, 'ownerHash'> }
}

export interface StandingContext {
  readonly registry: Pick<Registry, 'softwareAuthorizer'>
  readonly ledger: Pick<LedgerStore, 'approvals'>
  readonly authorizers: Pick<AuthorizerStore, 'setOf'>
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
  if (
    !sameBytes(encodeApprovalTerm(termOf({ ...intent, approval }, payload, ownerHash)), row.term)
  ) {
    throw new Refusal('APPROVAL_MISMATCH', 'another call was approved')
  }
  requireGas(payload, approval.maxNativeWei)
  if (approval.expiresAtMs <= nowMs) throw new Refusal('APPROVAL_EXPIRED', 'approval')
  if (row.ended !== null && row.ended.as !== 'signed') {
    throw new Refusal('APPROVAL_DECLINED', row.ended.as)
  }
  const use = approvals.approvalUse(approval.approvalId)
  if (use !== null && !sameBytes(use, placeOf(payload))) {
    throw new Refusal('APPROVAL_USED', 'it was used for another signature')
  }
  const people = peopleOf(row, ownerHash, context)
  const waitedMs = nowMs - row.askedAtMs
  if (people < row.needed) throw tooFew(people, row.needed)
  if (waitedMs < row.delaySeconds * 1_000) throw tooEarly()
  return { people, waitedMs }
}

/** Those who approved it and are authorizers of the user by now. */
function peopleOf(
  { approvals }: ApprovalRow,
  ownerHash: Uint8Array,
  { authorizers, registry }: StandingContext,
): number {
  const { active } = authorizers.setOf(ownerHash)
  const people = approvals.filter(({ authorizerId }) =>
    authorizerId.length === 0
      ? active.length === 0 && registry.softwareAuthorizer !== null
      : active.some(({ id }) => sameBytes(id, authorizerId)),
  )
  return people.length
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

/** What an approval is used up by: a nonce of its chain, or one Router intent. */
export function placeOf(payload: DecodedPayload): Uint8Array {
  return payload.kind === 'router-intent'
    ? payload.digest
    : concat(u32(payload.chainId), u64(payload.nonce))
}

/**
 * The term that an intent's own bytes come to.
 * @throws Refusal APPROVAL_MISMATCH for what nobody approves
 */
export function termOf(
  intent: Pick<Intent, 'walletId' | 'keyId'> & { readonly approval: IntentApproval },
  payload: DecodedPayload,
  ownerHash: Uint8Array,
): ApprovalTerm {
  const { walletId, keyId, approval } = intent
  const { chainId } = payload
  const of = { ...approval, walletId, keyId, ownerHash, chainId }
  if (payload.kind === 'transaction') {
    const { to, value, data } = payload
    return { kind: 'transaction', ...of, to, value, hash: keccak256(data) }
  }
  if (payload.kind === 'router-intent') {
    return { kind: 'intent', ...of, to: payload.target, value: 0n, hash: intentTermsHash(payload) }
  }
  throw new Refusal('APPROVAL_MISMATCH', 'an authorization is not approved')
}
