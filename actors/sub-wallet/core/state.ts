import type { AllowanceEntry } from '../../../src/domain/allowance.js'
import type { ApiKey } from '../../../src/domain/api-key.js'
import type { ApprovalToSign } from '../../../src/domain/approval.js'
import type { Spend } from '../../../src/domain/exposure.js'
import type { Freezes } from '../../../src/domain/freeze.js'
import type { Address, Hex, KeyId, LineageId, SubWalletId, TxId } from '../../../src/domain/ids.js'
import {
  combine,
  NO_SPEND,
  type Reservation,
  type SpendCounters,
} from '../../../src/domain/spend.js'
import type { SpentDay } from '../../../src/domain/spent-days.js'
import type { MinedIn, Transaction, TxKind, Valuation } from '../../../src/domain/transaction.js'
import type { LimitMark, SponsoredGas, SubWallet } from '../../../src/domain/wallet.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { ApprovalAsked } from '../../../src/policy/approval-asked.js'
import type { BreakerTally } from '../../../src/policy/breakers.js'
import type { CountedCall, PolicyLedger } from '../../../src/policy/policy-ledger.js'
import type { UserWatch } from '../../../src/policy/user-breakers.js'
import type { QuoteBasis } from '../../../src/valuation/quoter.js'
import type { AccountDraft, AccountState, DraftEntry, OpenEntry } from '../../account/core/state.js'
import { noOpenGrants, type OpenGrants } from './open-grants.js'
import type { Delegation, SponsoredEntry } from './sponsored-state.js'
import { noWaitingCalls, type WaitingCalls } from './waiting-state.js'

/**
 * A sub-wallet's state: an account, and who may spend from it how much. What is durable: the
 * wallet, its keys, settled and reserved spend of stored transactions, and what is durable of an
 * account. What is volatile: drafts, i.e. requests between their reservation and their signed
 * bytes, and with them their reservations.
 */
export interface SubWalletState extends AccountState {
  readonly subWalletId: SubWalletId
  wallet: SubWallet | null
  readonly keys: Map<KeyId, ApiKey>
  /** Of lineages that a key of the wallet made: the lineage that did; see key-tree.ts. */
  readonly parents: Map<LineageId, LineageId>
  /** The last key of each lineage. */
  readonly heads: Map<LineageId, ApiKey>
  /** Spend of stored transactions, by lineage; a key's counts on those above it as well. */
  readonly spend: Map<LineageId, SpendCounters>
  /** Reservations of drafts, by lineage. */
  readonly draftSpend: Map<LineageId, SpendCounters>
  /** The uses of caps that owners were notified of; a lineage has two at most. */
  readonly limitNotices: Map<string, LimitMark>
  readonly drafts: Map<TxId, DraftEntry<Draft>>
  readonly open: Map<TxId, OpenEntry<Transaction>>
  readonly ended: Map<TxId, Transaction>
  /** Of open transactions that were asked for since a start. */
  readonly requests: Map<TxId, OpenRequest>
  /** Of mined calls that end only once their receipts are valued; see receipts.ts. */
  readonly receipts: Map<TxId, ReceiptWait>
  /** Of the stored open ones those that the wallet's record lists; others are indexed one by one. */
  readonly openInline: Set<TxId>
  /** As the store says whether there are such. */
  openInlineFlagged: boolean
  /** Idempotency keys of drafts and of open transactions made since a start: `lineage|key`. */
  readonly running: Map<string, TxId>
  /** The ledger of approvals. */
  allowances: Map<string, AllowanceEntry>
  /** False once some gave way, and of a wallet that is older than the ledger. */
  allowancesComplete: boolean
  /** Sponsored calls under way, in the order in which they came. */
  readonly sponsored: Map<TxId, SponsoredEntry>
  /** Confirmed ones whose end is not on disk yet: a reorg may be told before it is. Volatile. */
  readonly unrecorded: Map<TxId, Pick<SponsoredEntry, 'tx' | 'sponsorship'>>
  /** Chains on which the account is about to delegate, or to end that; their lanes hand out no nonce. */
  readonly delegations: Map<number, Delegation>
  /** When the last sponsored call of a chain was made, where the account has delegated. */
  readonly lastSponsoredMs: Map<number, number>
  /** Chains on which a delegation was ended: a node that lags may still see it. Volatile. */
  readonly undelegated: Set<number>
  /** The next nonce of an intent, by chain. */
  readonly intentNonces: Map<number, number>
  /** What lineages have spent on days that their counters have left. */
  readonly spentDays: Map<LineageId, readonly SpentDay[]>
  /** Those that are to be written. */
  readonly changedDays: Set<LineageId>
  /** What policies have counted of stored calls, by lineage. */
  readonly policyLedgers: Map<LineageId, PolicyLedger>
  /** What breakers have counted of refusals, by lineage; volatile. */
  readonly refusals: Map<LineageId, BreakerTally>
  /** Those that are to be written, as the store has them. */
  readonly changedLedgers: Map<LineageId, PolicyLedger>
  /** Whom the wallet has paid, lower-case, and how often; null until a policy asks. */
  payees: Map<Address, number> | null
  sponsoredGas: SponsoredGas
  readonly grants: OpenGrants
  /** Calls that wait for a person or for their time. */
  readonly waiting: WaitingCalls
  /** What breakers of the user look at, at the moment of each decision; null: there are none. */
  userWatch: UserWatch | null
  /** What is frozen of the user's, at the moment of each decision; null: nothing. Not its own. */
  freezes: Freezes | null
}

/** A request that holds a reservation and has no durable signed bytes yet. */
export interface Draft extends AccountDraft {
  readonly keyId: KeyId
  readonly lineageId: LineageId
  readonly kind: TxKind
  readonly valuation: Valuation
  /** Among the drafts' until the bytes are stored; of one that lost its nonce it is stored. */
  readonly reservation: Reservation
  /** Credits that it uses, and is; absent or null for what has nothing to do with allowances. */
  readonly paid?: Spend | null
  /** A revert or a lack of funds seen while valuing; answered once limit and screening passed. */
  readonly problem: Fault | null
  /** What the valuation saw and rests on; null for calls of the lane itself. */
  readonly basis: QuoteBasis | null
  /** Absent where its key's policy counts nothing. */
  readonly counted?: CountedCall | undefined
  /** Times the call was valued anew because the chain had moved on; absent is none. */
  readonly requotes?: number
  readonly proofKey: Uint8Array | null
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
  /** Whom its key's policy asks before it may be signed; absent: nobody. */
  readonly asks?: ApprovalAsked | undefined
  /** Of a call that waited and is let through: what it holds is the waiting call's. */
  readonly approval?: ApprovalToSign
}

/** What an open transaction keeps of its request while this process lives; never stored. */
export interface OpenRequest {
  /** So that a lost nonce can be made good. */
  readonly proofKey: Uint8Array | null
  /**
   * So that a request that was prepared before the record of its first could be read is not taken
   * for a new one. A restart leaves no such request.
   */
  readonly idempotency: Draft['idempotency']
  /** True of plain transfers; see unmined-calls.ts. */
  readonly isPlain: boolean
}

/** Volatile: a restart asks again. */
export interface ReceiptWait {
  readonly blockHash: Hex
  readonly isValued: boolean
  /** Set once its block is deep enough; it ends when it is valued, then. */
  readonly confirmed: MinedIn | null
}

export function emptyState(subWalletId: SubWalletId): SubWalletState {
  return {
    accountId: subWalletId,
    subWalletId,
    wallet: null,
    keys: new Map(),
    parents: new Map(),
    heads: new Map(),
    spend: new Map(),
    draftSpend: new Map(),
    limitNotices: new Map(),
    lanes: new Map(),
    drafts: new Map(),
    open: new Map(),
    ended: new Map(),
    endsRead: new Set(),
    requests: new Map(),
    receipts: new Map(),
    openInline: new Set(),
    openInlineFlagged: false,
    running: new Map(),
    allowances: new Map(),
    allowancesComplete: false,
    sponsored: new Map(),
    unrecorded: new Map(),
    delegations: new Map(),
    lastSponsoredMs: new Map(),
    undelegated: new Set(),
    intentNonces: new Map(),
    spentDays: new Map(),
    changedDays: new Set(),
    policyLedgers: new Map(),
    refusals: new Map(),
    changedLedgers: new Map(),
    payees: null,
    sponsoredGas: { day: 0, micros: 0n },
    grants: noOpenGrants(),
    waiting: noWaitingCalls(),
    userWatch: null,
    freezes: null,
  }
}

/** All that counts against a lineage's caps now: stored and drafted. */
export function countersOf(
  state: SubWalletState,
  lineageId: LineageId,
  nowMs: number,
): SpendCounters {
  return combine(
    state.spend.get(lineageId) ?? NO_SPEND,
    state.draftSpend.get(lineageId) ?? NO_SPEND,
    nowMs,
  )
}

export function runningKey(lineageId: LineageId, key: string): string {
  return `${lineageId}|${key}`
}
