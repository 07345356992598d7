import type { CountedCall } from '../policy/policy-ledger.js'
import type { ScreenedAgainst } from './audit.js'
import type { ApprovalId, Hex, KeyId, LineageId, SubWalletId, TxId, UserId } from './ids.js'
import { ID_PREFIX } from './ids.js'
import type { UsdMicros } from './money.js'
import type { UnapprovedEnd } from './transaction.js'

/**
 * A call that its key's policy sent to a person, or that waits for its time. The call itself is in
 * its transaction's record, which says what became of it; this says who decided.
 *
 * | status | meaning |
 * |---|---|
 * | pending | too few have approved, or its time has not come |
 * | approved | enough have, or its time came: it is judged anew and signed |
 * | declined, expired, withdrawn | it ended, and what it held is released |
 */
export interface Approval {
  readonly approvalId: ApprovalId
  readonly txId: TxId
  readonly subWalletId: SubWalletId
  readonly userId: UserId
  readonly keyId: KeyId
  readonly lineageId: LineageId
  readonly status: ApprovalStatus
  readonly rule: string
  /** Distinct people; 0 where it only waits for its time. */
  readonly needed: number
  /** From the moment on at which the identity provider knew of it. */
  readonly delaySeconds: number
  readonly url: string | null
  /** Of the present term: asked again, there are none. */
  readonly decisions: readonly ApprovalDecision[]
  /** Gas limit × maximum fee at the most, wei; a part of what people sign. */
  readonly maxNativeWei: bigint
  /** What the call itself was worth when people were asked, micro-USD; gas is bounded apart. */
  readonly valueMicros: UsdMicros
  /** Proof of the live API key that asked, over this call alone; good for nothing else. */
  readonly keyProof: Hex
  readonly requestedAtMs: number
  readonly expiresAtMs: number
  /** When the identity provider had it; null: it has yet to be told of the present term. */
  readonly toldAtMs: number | null
  /** What it counts for its key's policy while it waits; null: nothing. */
  readonly counted: CountedCall | null
  readonly foreseen: Foreseen
  readonly screenedAgainst: readonly ScreenedAgainst[]
  /** Why people were asked once more; null: they were not. */
  readonly askedAgain: AskedAgain | null
  readonly decidedAtMs: number | null
  /**
   * At which the quorum was last asked to sign it, noted before it was asked: once the identity
   * provider has heard of it there, it lets it be signed at no other. Null: it was not asked.
   */
  readonly boundNonce: number | null
}

export type ApprovalStatus = 'pending' | 'approved' | UnapprovedEnd
export type AskedAgain = 'price' | 'gas' | 'policy'

export interface ApprovalDecision {
  /** `aut_…`; null of a console token's decline. */
  readonly authorizerId: string | null
  readonly decision: 'approve' | 'decline'
  /** Given to the agent. */
  readonly comment: string | null
  readonly atMs: number
  /** Verified by the identity provider; null of a decline. */
  readonly proof: Hex | null
}

/** In place of an authorizer's id: on a development instance a console token's word is confirmed. */
export const SOFTWARE_AUTHORIZER = 'software'

/** What a call that waited is signed by, besides its key's grant. */
export interface ApprovalToSign {
  readonly approvalId: ApprovalId
  readonly expiresAtMs: number
  readonly maxNativeWei: bigint
  /** Of distinct people; empty where it only waited for its time. */
  readonly proofs: readonly Hex[]
}

/** What the run showed that the call was valued by. */
export interface Foreseen {
  readonly simulated: boolean
  /** Null when nothing was run. */
  readonly gasUsed: bigint | null
  /** Most that gas could cost when people were asked, wei. */
  readonly maxFeeWei: bigint
}

/** One of a transaction for its whole life: the same identity. */
export function approvalIdOf(txId: TxId): ApprovalId {
  return (ID_PREFIX.approval + txId.slice(ID_PREFIX.tx.length)) as ApprovalId
}

/** Those who approved the present term, each once. */
export function approversOf({ decisions }: Pick<Approval, 'decisions'>): Set<string> {
  const found = new Set<string>()
  for (const { decision, authorizerId } of decisions) {
    if (decision === 'approve' && authorizerId !== null) found.add(authorizerId)
  }
  return found
}

export function isApproved(approval: Pick<Approval, 'decisions' | 'needed'>): boolean {
  return approversOf(approval).size >= approval.needed
}
