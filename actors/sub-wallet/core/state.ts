import type { AllowanceEntry } from '../../../src/domain/allowance.js'
import type { ApiKey } from '../../../src/domain/api-key.js'
import type { ApprovalToSign } from '../../../src/domain/approval.js'
import type { Spend } from '../../../src/domain/exposure.js'
import type { Freezes } from '../../../src/domain/freeze.js'
import { type QuoteName, quoteKey } from '../../../src/domain/idempotency.js'
import type { Address, Hex, KeyId, LineageId, SubWalletId, TxId } from '../../../src/domain/ids.js'
import type { UsdMicros } from '../../../src/domain/money.js'
import {
  combine,
  NO_SPEND,
  type Reservation,
  type SpendCounters,
} from '../../../src/domain/spend.js'
import type { SpentDay } from '../../../src/domain/spent-days.js'
import { GAS_BUDGET_DEFAULTS, type GasBudgets } from '../../../src/domain/sponsored-gas.js'
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
import type { Delegation, JoinedCaller, SponsoredEntry } from './sponsored-state.js'
import { noWaitingCalls, type WaitingCalls } from './waiting-state.js'

/**
 * The state of a sub-wallet: an account, with the keys that may spend from it and their limits.
 * Durable are the wallet, its keys, the settled and reserved spend of stored transactions, and the
 * durable part of an account. Volatile are drafts, which are calls between their reservation and
 * their signed bytes, and their reservations.
 */
export interface SubWalletState extends AccountState {
  readonly subWalletId: SubWalletId
  wallet: SubWallet | null
  readonly keys: Map<KeyId, ApiKey>
  /** The lineage that made a lineage, for those that a key of the wallet made; see key-tree.ts. */
  readonly parents: Map<LineageId, LineageId>
  /** The newest key of each lineage. */
  readonly heads: Map<LineageId, ApiKey>
  /**
   * The spend of stored transactions by lineage; a key's spend counts on the keys above it as well.
   */
  readonly spend: Map<LineageId, SpendCounters>
  /** Reservations of drafts, by lineage. */
  readonly draftSpend: Map<LineageId, SpendCounters>
  /** The cap marks that owners were notified of; at most two per lineage. */
  readonly limitNotices: Map<string, LimitMark>
  readonly drafts: Map<TxId, DraftEntry<Draft>>
  readonly open: Map<TxId, OpenEntry<Transaction>>
  readonly ended: Map<TxId, Transaction>
  /** Requests of open transactions that this process has received since its start. */
  readonly requests: Map<TxId, OpenRequest>
  /** Mined calls that end only once their receipts are valued; see receipts.ts. */
  readonly receipts: Map<TxId, ReceiptWait>
  /**
   * The stored open transactions that the wallet's record lists; others have an index entry each.
   */
  readonly openInline: Set<TxId>
  /** Whether the store's record says that there are such. */
  openInlineFlagged: boolean
  /** Running keys (`lineage|key`) of drafts and of open transactions made since the start. */
  readonly running: Map<string, TxId>
  /** Callers that wait for the record of a call that another caller asked for. Volatile. */
  readonly joined: Map<TxId, readonly JoinedCaller[]>
  /** The ledger of allowances. */
  allowances: Map<string, AllowanceEntry>
  /** False once entries were forgotten, and for a wallet that is older than the ledger. */
  allowancesComplete: boolean
  /** Sponsored calls under way, in the order of their arrival. */
  readonly sponsored: Map<TxId, SponsoredEntry>
  /**
   * Confirmed calls whose end is not on disk yet: a reorg may be reported before it is. Volatile.
   */
  readonly unrecorded: Map<TxId, Pick<SponsoredEntry, 'tx' | 'sponsorship'>>
  /**
   * Chains on which the account is about to delegate or to end its delegation; their lanes hand out
   * no nonce.
   */
  readonly delegations: Map<number, Delegation>
  /** When the last sponsored call was made, by chain, while the account is delegated there. */
  readonly lastSponsoredMs: Map<number, number>
  /** Chains on which a delegation was ended: a node that lags may still see it. Volatile. */
  readonly undelegated: Set<number>
  /** The next nonce of an intent, by chain. */
  readonly intentNonces: Map<number, number>
  /** The spend of lineages on days that their counters have left. */
  readonly spentDays: Map<LineageId, readonly SpentDay[]>
  /** The lineages whose days are to be written. */
  readonly changedDays: Set<LineageId>
  /** The policies' counts of stored calls, by lineage. */
  readonly policyLedgers: Map<LineageId, PolicyLedger>
  /** The breakers' counts of refusals, by lineage; volatile. */
  readonly refusals: Map<LineageId, BreakerTally>
  /** The ledgers that are to be written, in the form that the store still has. */
  readonly changedLedgers: Map<LineageId, PolicyLedger>
  /** Whom the wallet has paid, lower-case, and how often; null until a policy needs it. */
  payees: Map<Address, number> | null
  sponsoredGas: SponsoredGas
  /** The operator's gas budgets at the time of each decision. The shell provides it. */
  gasBudget: GasBudgetNow
  readonly grants: OpenGrants
  /** Calls that wait for a person or for their delay. */
  readonly waiting: WaitingCalls
  /** The watch of the user's breakers at the time of each decision; null when the user has none. */
  userWatch: UserWatch | null
  /** The user's freezes at the time of each decision, or null. The shell provides them. */
  freezes: Freezes | null
}

export interface GasBudgetNow {
  readonly limits: GasBudgets
  /** The use of the user's budget by the user's other wallets. */
  readonly ofOthers: (nowMs: number) => UsdMicros
}

const NO_OTHERS: GasBudgetNow = { limits: GAS_BUDGET_DEFAULTS, ofOthers: () => 0n }

/** A call that holds a reservation and has no durable signed bytes yet. */
export interface Draft extends AccountDraft {
  readonly keyId: KeyId
  readonly lineageId: LineageId
  readonly kind: TxKind
  readonly valuation: Valuation
  /**
   * Counted among the drafts until the bytes are stored; for a draft that lost its nonce it is
   * stored.
   */
  readonly reservation: Reservation
  /** Credits that it uses and gives; absent or null for a call that touches no allowance. */
  readonly paid?: Spend | null
  /** A revert or a lack of funds seen while valuing; answered once limit and screening passed. */
  readonly problem: Fault | null
  /** The results that the valuation depends on; null for the lane's own calls. */
  readonly basis: QuoteBasis | null
  /** Absent when its key's policy counts nothing. */
  readonly counted?: CountedCall | undefined
  /**
   * The number of times that the call was valued again because the chain had moved on; absent means
   * 0.
   */
  readonly requotes?: number
  readonly proofKey: Uint8Array | null
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
  /**
   * The approval that its key's policy requires before it is signed; absent when it requires none.
   */
  readonly asks?: ApprovalAsked | undefined
  /** Set for a call that waited and was approved; the waiting call holds its reservation. */
  readonly approval?: ApprovalToSign
}

/**
 * The part of its request that an open transaction keeps while this process lives; never stored.
 */
interface OpenRequest {
  /** Kept so that a transaction that lost its nonce can be signed again. */
  readonly proofKey: Uint8Array | null
  /**
   * Kept so that a repeated request, prepared before the first one's record could be read, is not
   * taken for a new one. No such request survives a restart.
   */
  readonly idempotency: Draft['idempotency']
  /** True for plain transfers; see unmined-calls.ts. */
  readonly isPlain: boolean
}

/** The valuation of a receipt. Volatile: after a restart it is requested again. */
interface ReceiptWait {
  readonly blockHash: Hex
  readonly isValued: boolean
  /** Set once its block is deep enough; the call ends when the receipt is valued as well. */
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
    joined: new Map(),
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
    gasBudget: NO_OTHERS,
    grants: noOpenGrants(),
    waiting: noWaitingCalls(),
    userWatch: null,
    freezes: null,
  }
}

/** Everything that counts against a lineage's caps now: stored and drafted. */
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

interface Named {
  readonly lineageId: LineageId
  readonly idempotency: { readonly key: string } | null
  readonly executes?: QuoteName | undefined
}

/** The keys by which the same call may come again: its Idempotency-Key and its quote. */
export function runningKeysOf({ lineageId, idempotency, executes }: Named): readonly string[] {
  return [
    ...(idempotency === null ? [] : [runningKey(lineageId, idempotency.key)]),
    ...(executes === undefined ? [] : [runningKey(executes.lineageId, quoteKey(executes))]),
  ]
}
