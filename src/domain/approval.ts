import type { CountedCall } from '../policy/policy-ledger.js'
import type { ScreenedAgainst } from './audit.js'
import type { Call } from './call.js'
import type {
  Address,
  ApprovalId,
  Hex,
  KeyId,
  LineageId,
  SubWalletId,
  TxId,
  UserId,
} from './ids.js'
import { ID_PREFIX } from './ids.js'
import type { UsdMicros } from './money.js'
import type { PredictedOutcome } from './predicted-outcome.js'
import type { IntentTerms, PartyNamed } from './sponsored-terms.js'
import type { Transaction, UnapprovedEnd } from './transaction.js'

/**
 * The approval of a call that its key's policy sent to a person or delayed. The call and its outcome
 * are in its transaction's record; the approval has the decisions.
 *
 * | status | meaning |
 * |---|---|
 * | pending | too few people have approved, or the delay has not passed |
 * | approved | enough people approved, or the delay passed: the call is judged again and signed |
 * | declined, expired, withdrawn | the call ended, and its reservation is released |
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
  /** The number of distinct people; 0 when the call only waits for its delay. */
  readonly needed: number
  /** Counted from the moment at which the identity provider knew of the call. */
  readonly delaySeconds: number
  readonly url: string | null
  /** The decisions on the present term; empty again when people are asked again. */
  readonly decisions: readonly ApprovalDecision[]
  /** The largest gas limit × maximum fee, wei; part of what people sign. */
  readonly maxNativeWei: bigint
  /** The call's own value when people were asked, micro-USD; gas is bounded separately. */
  readonly valueMicros: UsdMicros
  /** A proof by the live API key that made the call; it is valid for this call only. */
  readonly keyProof: Hex
  readonly requestedAtMs: number
  readonly expiresAtMs: number
  /** When the identity provider had it; null while it has yet to receive the present term. */
  readonly toldAtMs: number | null
  /** The units that the call counts for its key's policy while it waits; null for nothing. */
  readonly counted: CountedCall | null
  /** Stored under this name. */
  readonly foreseen: Prediction
  readonly screenedAgainst: readonly ScreenedAgainst[]
  /** The terms of a sponsored call; null for a send. */
  readonly sponsored: WaitingSponsorship | null
  /** Why people were asked again; null when they were not. */
  readonly askedAgain: AskedAgain | null
  readonly decidedAtMs: number | null
  /**
   * The nonce at which the quorum was last asked to sign the call, noted before the request: once
   * the identity provider knows it, it permits no other. Null before the first request.
   */
  readonly boundNonce: number | null
}

type ApprovalStatus = 'pending' | 'approved' | UnapprovedEnd
/**
 * price: the moved assets are worth more or less. quote: the venue offers more or less. gas: the
 * gas would cost more than people signed. policy: it now requires more people. people: too few of
 * those who approved may still approve.
 */
export const ASKED_AGAIN = ['price', 'quote', 'gas', 'policy', 'people'] as const
export type AskedAgain = (typeof ASKED_AGAIN)[number]

/** A sponsored call in the form that people are asked to approve. */
export interface WaitingSponsorship {
  readonly router: Address
  readonly delegate: Address
  /** Signed unchanged, with `minOut` and the venue's calldata, or put to people again. */
  readonly terms: IntentTerms
  /** The venue's offer when the terms were made, in smallest units of the output. */
  readonly offered: bigint
  /** Venue, tokens and vault, for the screening. */
  readonly parties: readonly PartyNamed[]
  /** Equal for calls of the same kind, tokens and amounts. */
  readonly fingerprint: string
}

/** The part of a call that people sign: their own transaction, or the terms of a Router intent. */
export type AskedSubject =
  | { readonly kind: 'transaction'; readonly call: Call }
  | {
      readonly kind: 'intent'
      readonly chainId: number
      readonly router: Address
      /** The sub-wallet's address. */
      readonly account: Address
      readonly terms: IntentTerms
    }

/** A call in the form in which both domains describe it to people. */
export interface AskedCall {
  readonly approvalId: ApprovalId
  readonly walletId: SubWalletId
  readonly keyId: KeyId
  readonly userId: string
  /** The largest gas limit × maximum fee, wei; unbounded for a Router intent. */
  readonly maxNativeWei: bigint
  readonly expiresAtMs: number
  readonly subject: AskedSubject
}

export interface ApprovalDecision {
  /** `aut_…`; null for a decline with a console token. */
  readonly authorizerId: string | null
  readonly decision: 'approve' | 'decline'
  /**
   * In a shared account, the persons whose approver device it was, among those who could approve at
   * that time; for a decline at the console, who declined. Null when nobody was invited; absent in
   * older records.
   */
  readonly personIds?: readonly string[] | null
  /** Shown to the agent. */
  readonly comment: string | null
  readonly atMs: number
  /** Verified by the identity provider; null for a decline. */
  readonly proof: Hex | null
}

/** A decision as it arrives, with the earlier approvers who may still approve. */
export interface GivenDecision extends ApprovalDecision {
  readonly holdersNow?: HoldersNow
}

/** The persons who may approve now, by the approver device of each earlier approval. */
export type HoldersNow = Readonly<Record<string, readonly string[]>>

/** Leaves out the approvals of persons who left the account or may no longer approve there. */
export function heldNow(
  decisions: readonly ApprovalDecision[],
  holdersNow: HoldersNow,
): readonly ApprovalDecision[] {
  return decisions.map((one) => {
    const personIds = one.authorizerId === null ? undefined : holdersNow[one.authorizerId]
    return personIds === undefined || one.decision === 'decline' ? one : { ...one, personIds }
  })
}

/**
 * Stands for the approver device on a development instance, where a console token suffices to
 * approve.
 */
export const SOFTWARE_AUTHORIZER = 'software'

/** The approval with which a call that waited is signed, in place of its API key's proof. */
export interface ApprovalToSign {
  readonly approvalId: ApprovalId
  readonly expiresAtMs: number
  readonly maxNativeWei: bigint
  /** The proofs of distinct people; empty when the call only waited for its delay. */
  readonly proofs: readonly Hex[]
}

/** The result of the simulation by which the call was valued. */
interface Prediction {
  readonly simulated: boolean
  /** Null when nothing was simulated. */
  readonly gasUsed: bigint | null
  /** The most that the gas could cost when people were asked, wei. */
  readonly maxFeeWei: bigint
  /** Absent or null when the call's record shows its outcome completely. */
  readonly outcome?: PredictedOutcome | null
}

/** Derives the approval's id from its transaction's, so a transaction has one approval for life. */
export function approvalIdOf(txId: TxId): ApprovalId {
  return (ID_PREFIX.approval + txId.slice(ID_PREFIX.tx.length)) as ApprovalId
}

/**
 * The nonce of the Router that an approved intent takes: the 128 bits of the approval's id, which
 * no counted nonce reaches. The Router itself therefore permits only one execution per approval,
 * whatever either domain forgets.
 * @param approvalId 16 bytes
 */
export function approvalNonce(approvalId: Uint8Array): bigint {
  let nonce = 0n
  for (const byte of approvalId) nonce = (nonce << 8n) | BigInt(byte)
  return nonce
}

/** The present term in the form that people are asked to approve. */
export function askedCall(approval: Approval, tx: Pick<Transaction, 'call' | 'from'>): AskedCall {
  const { approvalId, subWalletId: walletId, keyId, userId, maxNativeWei, expiresAtMs } = approval
  const { sponsored } = approval
  const subject: AskedSubject =
    sponsored === null
      ? { kind: 'transaction', call: tx.call }
      : intentSubject(sponsored, tx.call.chainId, tx.from)
  return { approvalId, walletId, keyId, userId, maxNativeWei, expiresAtMs, subject }
}

export function intentSubject(
  { router, terms }: Pick<WaitingSponsorship, 'router' | 'terms'>,
  chainId: number,
  account: Address,
): AskedSubject {
  return { kind: 'intent', chainId, router, account, terms }
}

/** The approver devices that approved the present term, each once. */
export function approversOf({ decisions }: Pick<Approval, 'decisions'>): Set<string> {
  const found = new Set<string>()
  for (const { decision, authorizerId } of decisions) {
    if (decision === 'approve' && authorizerId !== null) found.add(authorizerId)
  }
  return found
}

/**
 * The number of people who approved the present term. Without invited members each approver device
 * counts. Otherwise each person counts once, and a device that several persons hold counts as one
 * of them.
 */
export function peopleWhoApproved({
  decisions,
  userId,
}: Pick<Approval, 'decisions' | 'userId'>): number {
  const given = decisions.filter(({ decision }) => decision === 'approve')
  // Approvals given before the first invitation came from the account's own person.
  const isShared = given.some(({ personIds }) => (personIds ?? null) !== null)
  const counted = new Set<string>()
  let people = 0
  for (const { authorizerId, personIds } of given) {
    const holders = personIds ?? [isShared ? userId : (authorizerId ?? '')]
    if (holders.length > 0 && !holders.some((holder) => counted.has(holder))) people++
    for (const holder of holders) counted.add(holder)
  }
  return people
}

export function isApproved(approval: Pick<Approval, 'decisions' | 'needed' | 'userId'>): boolean {
  return peopleWhoApproved(approval) >= approval.needed
}
