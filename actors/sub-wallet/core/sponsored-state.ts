import type { ApprovalToSign } from '../../../src/domain/approval.js'
import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { QuoteName } from '../../../src/domain/idempotency.js'
import type { Address, GasWalletId, KeyId, LineageId, TxId } from '../../../src/domain/ids.js'
import type { UsdMicros } from '../../../src/domain/money.js'
import type { Reservation } from '../../../src/domain/spend.js'
import type { IntentTerms, PartyNamed } from '../../../src/domain/sponsored-terms.js'
import type { Authorization, SponsoredKind, Sponsorship } from '../../../src/domain/sponsorship.js'
import type { Transaction, Valuation } from '../../../src/domain/transaction.js'
import type { Result } from '../../../src/errors/fault.js'
import type { ApprovalAsked } from '../../../src/policy/approval-asked.js'
import type { CountedCall } from '../../../src/policy/policy-ledger.js'
import type { ReplyToken } from '../../runtime/actor.js'

/** A caller that waits for the answer of another caller's execution of the same quote. */
export interface JoinedCaller {
  readonly token: ReplyToken
  /** The key that asked; a refusal of another key's call is not for it. */
  readonly keyId: KeyId
}

/** A sponsored call that holds a reservation and has no stored intent yet. */
export interface SponsoredDraft {
  readonly txId: TxId
  readonly requestId: string
  readonly keyId: KeyId
  readonly lineageId: LineageId
  readonly chainId: number
  readonly kind: SponsoredKind
  readonly account: Address
  readonly router: Address
  readonly delegate: Address
  /**
   * The terms to be signed, or why the call would fail; answered once limit and screening passed.
   */
  readonly terms: Result<IntentTerms>
  /** The venue's offer for them, in smallest units of the output; 0 when they would fail. */
  readonly offered: bigint
  readonly parties: readonly PartyNamed[]
  readonly gasWalletId: GasWalletId
  readonly valuation: Valuation
  readonly reservation: Reservation
  readonly gasMicros: UsdMicros
  /** Null for a call that waited: the live key's proof was given when people were asked. */
  readonly proofKey: Uint8Array | null
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
  /** Absent when it executes no quote. */
  readonly executes?: QuoteName
  /** Equal for calls of the same kind, tokens and amounts. */
  readonly fingerprint: string
  readonly createdAtMs: number
  /** Absent when its key's policy counts nothing. */
  readonly counted?: CountedCall
  /**
   * The approval that its key's policy requires before it is signed; absent when it requires none.
   */
  readonly asks?: ApprovalAsked
  /** Set for a call that waited and was approved; the waiting call holds its reservation. */
  readonly approval?: ApprovalToSign
}

/**
 * | phase | meaning | who moves it on |
 * |---|---|---|
 * | screening | reserved; addresses are being screened | the screening effect |
 * | waiting | clean; the account must delegate first, and its lane is not free for that yet | the lane |
 * | signing | the quorum signs the intent and the authorization | the signing effect |
 * | handed | the intent is stored; a gas wallet was asked | its gas wallet |
 * | sent | the gas wallet has signed; there is a hash | its gas wallet |
 * | held | failed, but the intent is valid until its deadline: the spend stays reserved | the clock |
 */
export interface SponsoredEntry {
  phase: 'screening' | 'waiting' | 'signing' | 'handed' | 'sent' | 'held'
  readonly txId: TxId
  readonly chainId: number
  readonly fingerprint: string
  readonly createdAtMs: number
  /** The hold on the gas budgets. After a wait it is known once the call is judged again. */
  gasMicros: UsdMicros
  /** Set until the intent is stored. */
  draft: SponsoredDraft | null
  /** Set once the intent is stored. */
  sponsorship: Sponsorship | null
  /** Set once the gas wallet has signed. */
  tx: Transaction | null
  /** False once the chain has shown the account delegated to our delegate. */
  needsDelegation: boolean
  screenedAgainst: readonly ScreenedAgainst[]
  /** The caller that still waits for an answer. */
  token: ReplyToken | null
  /**
   * How often a gas wallet could not carry the approved call and it had to wait for another
   * attempt.
   */
  rests: number
  /** True until the next attempt. */
  isResting: boolean
  /** The number of times that its gas wallet needed a larger hold and received it. */
  raises: number
}

/**
 * The account's first sponsored call on a chain delegates it (EIP-7702). The authorization takes a
 * nonce of the lane, so while there is one, the lane hands out no other.
 *
 * | phase | meaning |
 * |---|---|
 * | draining | waits until everything the lane has in flight is mined |
 * | signing | the quorum is asked for the authorization |
 * | pending | stored with an intent; every sponsored call carries it until it is seen on chain |
 * | ending | an authorization for the zero address is signed and carried; sponsored calls wait, then delegate again |
 */
export interface Delegation {
  phase: 'draining' | 'signing' | 'pending' | 'ending'
  /** The call whose signatures include the authorization; null while draining or ending. */
  leader: TxId | null
  authorization: Authorization | null
}
