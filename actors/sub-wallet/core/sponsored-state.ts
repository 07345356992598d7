import type { ApprovalToSign } from '../../../src/domain/approval.js'
import type { ScreenedAgainst } from '../../../src/domain/audit.js'
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

/** A sponsored request that holds a reservation and has no stored intent yet. */
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
  /** What is to be signed, or why it would fail; answered once limit and screening passed. */
  readonly terms: Result<IntentTerms>
  /** What the venue offered for them, smallest units of the output; 0 where they would fail. */
  readonly offered: bigint
  readonly parties: readonly PartyNamed[]
  readonly gasWalletId: GasWalletId
  readonly valuation: Valuation
  readonly reservation: Reservation
  readonly gasMicros: UsdMicros
  /** Null of one that waited: the live key's proof came when it was asked about. */
  readonly proofKey: Uint8Array | null
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
  /** Equal for requests of the same kind, tokens and amounts. */
  readonly fingerprint: string
  readonly createdAtMs: number
  /** Absent where its key's policy counts nothing. */
  readonly counted?: CountedCall
  /** Whom its key's policy asks before it may be signed; absent: nobody. */
  readonly asks?: ApprovalAsked
  /** Of a call that waited and is let through: what it holds is the waiting call's. */
  readonly approval?: ApprovalToSign
}

/**
 * | phase | meaning | who moves it on |
 * |---|---|---|
 * | screening | reserved; addresses are being screened | the screening effect |
 * | waiting | clean; the account must delegate first, and its lane is not free for that yet | the lane |
 * | signing | the quorum is asked for intent and authorization | the signing effect |
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
  /** Of one that waited, known once it is judged anew. */
  gasMicros: UsdMicros
  /** Until the intent is stored. */
  draft: SponsoredDraft | null
  /** From then on. */
  sponsorship: Sponsorship | null
  /** From the gas wallet's signature on. */
  tx: Transaction | null
  /** False once the account was seen delegated to our delegate. */
  needsDelegation: boolean
  screenedAgainst: readonly ScreenedAgainst[]
  /** The caller that still waits for an answer. */
  token: ReplyToken | null
  /** Times that a gas wallet could not carry what people approved, and was to be asked again. */
  rests: number
  /** Until it is asked again. */
  isResting: boolean
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
 * | ending | an authorization of nobody is signed and carried; sponsored calls wait, and delegate anew |
 */
export interface Delegation {
  phase: 'draining' | 'signing' | 'pending' | 'ending'
  /** The request whose signatures include the authorization; null while draining or ending. */
  leader: TxId | null
  authorization: Authorization | null
}

/**
 * Gas that the service pays for one sub-wallet in a UTC day; beyond it RATE_LIMITED. Spec silent:
 * sponsoring is not meant to be without bounds, or a caller could burn the gas wallets' funds at
 * nobody's cap. 250 USD is a thousand swaps on a layer 2, and some ten on a busy Ethereum.
 */
export const SPONSORED_GAS_DAY_MAX_MICROS: UsdMicros = 250_000_000n

/** Gas held of that budget until the receipt says what was used: more than any flow takes. */
export const SPONSORED_GAS_HELD = 400_000n
