import type { CountedCall } from '../policy/policy-ledger.js'
import type { ScreenedAgainst } from './audit.js'
import type { Call } from './call.js'
import type { ForeseenOutcome } from './foreseen.js'
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
import type { IntentTerms, PartyNamed } from './sponsored-terms.js'
import type { Transaction, UnapprovedEnd } from './transaction.js'

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
  /** What a call comes to whose gas the service pays; null of a send. */
  readonly sponsored: WaitingSponsorship | null
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
/**
 * price: what it moves is worth more or less. quote: the venue gives more or less for it. gas: it would
 * cost more than people signed. policy: it asks for more people by now. people: of those who approved
 * it too few may by now.
 */
export const ASKED_AGAIN = ['price', 'quote', 'gas', 'policy', 'people'] as const
export type AskedAgain = (typeof ASKED_AGAIN)[number]

/** A sponsored call as people are asked about it. */
export interface WaitingSponsorship {
  readonly router: Address
  readonly delegate: Address
  /** Signed as they are, with `minOut` and the venue's calldata, or asked about anew. */
  readonly terms: IntentTerms
  /** What the venue offered when they were made, smallest units of the output. */
  readonly offered: bigint
  /** Venue, tokens and vault, for the screening. */
  readonly parties: readonly PartyNamed[]
  /** Equal for requests of the same kind, tokens and amounts. */
  readonly fingerprint: string
}

/** What of a call people sign: their own transaction, or the terms of a Router intent. */
export type AskedSubject =
  | { readonly kind: 'transaction'; readonly call: Call }
  | {
      readonly kind: 'intent'
      readonly chainId: number
      readonly router: Address
      /** The sub-wallet's. */
      readonly account: Address
      readonly terms: IntentTerms
    }

/** A call as both domains name it to people. */
export interface AskedCall {
  readonly approvalId: ApprovalId
  readonly walletId: SubWalletId
  readonly keyId: KeyId
  readonly userId: string
  /** Gas limit × maximum fee at the most, wei; of a Router intent nothing bounds it. */
  readonly maxNativeWei: bigint
  readonly expiresAtMs: number
  readonly subject: AskedSubject
}

export interface ApprovalDecision {
  /** `aut_…`; null of a console token's decline. */
  readonly authorizerId: string | null
  readonly decision: 'approve' | 'decline'
  /**
   * Of a shared account: whose authorizer it is, of those who might approve then; of a decline at the
   * console who declined. Null where nobody was invited; absent of a record of before.
   */
  readonly personIds?: readonly string[] | null
  /** Given to the agent. */
  readonly comment: string | null
  readonly atMs: number
  /** Verified by the identity provider; null of a decline. */
  readonly proof: Hex | null
}

/** A decision as it arrives, with who of those before it may still approve. */
export interface GivenDecision extends ApprovalDecision {
  readonly holdersNow?: HoldersNow
}

/** By the authorizer of an earlier approval: the persons who may approve by it now. */
export type HoldersNow = Readonly<Record<string, readonly string[]>>

/** Who left the account, or may not approve there any more, is nobody's yes from then on. */
export function heldNow(
  decisions: readonly ApprovalDecision[],
  holdersNow: HoldersNow,
): readonly ApprovalDecision[] {
  return decisions.map((one) => {
    const personIds = one.authorizerId === null ? undefined : holdersNow[one.authorizerId]
    return personIds === undefined || one.decision === 'decline' ? one : { ...one, personIds }
  })
}

/** In place of an authorizer's id: on a development instance a console token's word is confirmed. */
export const SOFTWARE_AUTHORIZER = 'software'

/** What a call that waited is signed by, instead of the proof of its API key. */
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
  /** Absent or null where the record of the call says it all. */
  readonly outcome?: ForeseenOutcome | null
}

/** One of a transaction for its whole life: the same identity. */
export function approvalIdOf(txId: TxId): ApprovalId {
  return (ID_PREFIX.approval + txId.slice(ID_PREFIX.tx.length)) as ApprovalId
}

/**
 * The nonce of the Router that an approved intent takes, which no counted one comes to: the id's own
 * 128 bits. So the Router itself lets one execution happen for an approval, whoever forgets what.
 * @param approvalId 16 bytes
 */
export function approvalNonce(approvalId: Uint8Array): bigint {
  let nonce = 0n
  for (const byte of approvalId) nonce = (nonce << 8n) | BigInt(byte)
  return nonce
}

/** The term as people are asked about it now. */
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

/** What the present term was approved by, each once. */
export function approversOf({ decisions }: Pick<Approval, 'decisions'>): Set<string> {
  const found = new Set<string>()
  for (const { decision, authorizerId } of decisions) {
    if (decision === 'approve' && authorizerId !== null) found.add(authorizerId)
  }
  return found
}

/**
 * How many people approved the present term. Where nobody was invited each authorizer counts; else each
 * person once, and whoever holds an authorizer that another person holds, too, could pass for both.
 */
export function peopleWhoApproved({
  decisions,
  userId,
}: Pick<Approval, 'decisions' | 'userId'>): number {
  const given = decisions.filter(({ decision }) => decision === 'approve')
  // What was approved before the first invitation came from the account's own person.
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
