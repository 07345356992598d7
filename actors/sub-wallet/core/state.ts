import type { AllowanceEntry } from '../../../src/domain/allowance.js'
import type { ApiKey } from '../../../src/domain/api-key.js'
import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { Spend } from '../../../src/domain/exposure.js'
import type { Hex, KeyId, LineageId, SubWalletId, TxId } from '../../../src/domain/ids.js'
import {
  combine,
  NO_SPEND,
  type Reservation,
  type SpendCounters,
} from '../../../src/domain/spend.js'
import type { Place, Transaction, TxKind, Valuation } from '../../../src/domain/transaction.js'
import type { LimitMark, SponsoredGas, SubWallet } from '../../../src/domain/wallet.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { Forecast } from '../../../src/valuation/quoter.js'
import type { ReplyToken } from '../../runtime/actor.js'
import { noOpenGrants, type OpenGrants } from './open-grants.js'
import type { Delegation, SponsoredEntry } from './sponsored-state.js'

/**
 * A sub-wallet's state. What is durable: the wallet, its keys, settled and reserved spend of
 * stored transactions, each lane's next nonce, and every transaction that has signed bytes.
 * What is volatile: drafts, i.e. requests between their reservation and their signed bytes. A
 * crash forgets drafts, and with them their reservations and nonces; nothing of them was sent.
 */
export interface SubWalletState {
  readonly subWalletId: SubWalletId
  wallet: SubWallet | null
  readonly keys: Map<KeyId, ApiKey>
  /** Spend of stored transactions, by lineage. */
  readonly spend: Map<LineageId, SpendCounters>
  /** Reservations of drafts, by lineage. */
  readonly drafted: Map<LineageId, SpendCounters>
  /** What owners were told of their caps, by `toldKey`; a lineage has two at most. */
  readonly limitsTold: Map<string, LimitMark>
  readonly lanes: Map<number, Lane>
  readonly drafts: Map<TxId, DraftEntry>
  readonly open: Map<TxId, OpenEntry>
  /** Of the stored open ones those that the wallet's record lists; others are indexed one by one. */
  readonly listed: Set<TxId>
  /** As the store says whether there are such. */
  listedMarked: boolean
  /** Transactions that ended in the current command, until they are recorded. */
  readonly ended: Map<TxId, Transaction>
  /** Idempotency keys of drafts and of open transactions made since a start: `lineage|key`. */
  readonly running: Map<string, TxId>
  /** The ledger of approvals. */
  allowances: Map<string, AllowanceEntry>
  /** False once some gave way, and of a wallet that is older than the ledger. */
  allowancesComplete: boolean
  /** Sponsored calls under way, in the order in which they came. */
  readonly sponsored: Map<TxId, SponsoredEntry>
  /** Chains on which the account is about to delegate; their lanes hand out no nonce. */
  readonly delegations: Map<number, Delegation>
  /** The next nonce of an intent, by chain. */
  readonly intentNonces: Map<number, number>
  sponsoredGas: SponsoredGas
  readonly grants: OpenGrants
}

/** A request that holds a reservation and has no durable signed bytes yet. */
export interface Draft {
  readonly txId: TxId
  readonly requestId: string
  readonly keyId: KeyId
  readonly lineageId: LineageId
  readonly chainId: number
  readonly kind: TxKind
  readonly to: `0x${string}`
  readonly value: bigint
  readonly data: Hex
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly valuation: Valuation
  readonly reservation: Reservation
  /** Credits that it uses, and is; absent or null for what has nothing to do with allowances. */
  readonly paid?: Spend | null
  /** A revert or a lack of funds seen while valuing; answered once limit and screening passed. */
  readonly problem: Fault | null
  /** What the valuation saw and rests on; null for calls of the lane itself. */
  readonly forecast: Forecast | null
  /** Times the call was valued anew because the chain had moved on; absent is none. */
  readonly requotes?: number
  readonly proofKey: Uint8Array | null
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null
  readonly token: ReplyToken | null
  readonly createdAtMs: number
  /**
   * Where the reservation is booked. `stored`: the transaction lost its nonce to another and is
   * being signed again at a new one; its record and its reservation are durable already.
   */
  readonly booking: 'drafted' | 'stored'
}

export interface SignedBytes {
  readonly txHash: Hex
  readonly rawTransaction: Hex
  readonly intentId: Hex
  readonly signedAtMs: number
}

/**
 * | phase | meaning | who moves it on |
 * |---|---|---|
 * | screening | reserved; addresses are being screened | the screening effect |
 * | queued | clean; waits for a place among those being signed | the lane |
 * | signing | has a nonce; the quorum is asked | the signing effect |
 * | held | signed; waits until all lower nonces are stored | the lane |
 * | failed | not signed; waits until the lane has heard of the rest | the lane |
 */
export interface DraftEntry {
  readonly draft: Draft
  phase: 'screening' | 'queued' | 'signing' | 'held' | 'failed'
  /** Set while signing or held. */
  nonce: number
  /** Approval at the same nonce that the identity provider still holds; see custody README. */
  replaces: Hex | null
  signed: SignedBytes | null
  /** The lists of its clean verdict; empty until screened. */
  screenedAgainst: readonly ScreenedAgainst[]
  fault: Fault | null
}

/**
 * | flight | meaning |
 * |---|---|
 * | waiting | stored; the lane's window is full, or nothing tried yet |
 * | sending | a node is being asked |
 * | unsure | no clear answer came; the same bytes go out again at the next block |
 * | underpriced | no node takes it at this fee; it is replaced at the next block |
 * | nonce-lost | its nonce went to another transaction; it is being signed at a new one |
 * | sent | a node has it |
 */
export interface OpenEntry {
  tx: Transaction
  flight: 'waiting' | 'sending' | 'unsure' | 'underpriced' | 'nonce-lost' | 'sent'
  /** The caller that still waits for an answer. */
  token: ReplyToken | null
  /** Height at which a node first took the newest attempt; null until then, or while not known. */
  sentAtBlock: number | null
  /** The same by the clock; 0 until then. */
  sentAtMs: number
  /** Height at which a node last said that it has the newest attempt, and when; null and 0 until then. */
  takenAtBlock: number | null
  takenAtMs: number
  /**
   * True once a node may hold bytes of it: from then on no refusal of a node proves that it will
   * not land. A process that starts over does not know, and so must assume it.
   */
  mayBeOut: boolean
  /** Refusals in a row since a node last took it. */
  refusals: number
  /** True once a block had it that is gone: a stranger must be seen again and again to be believed. */
  hasLanded: boolean
  /** Proofs in a row that its nonce went to a stranger. */
  losses: number
  /** Kept while this process lives, so that a lost nonce can be made good; never stored. */
  proofKey: Uint8Array | null
  /**
   * Kept while it is open: a request that was prepared before the record of its first could be
   * read must not be taken for a new one. Null after a restart, which leaves no such request.
   */
  idempotency: Draft['idempotency']
  /** True while the quorum is asked for a replacement. */
  replacing: boolean
  /** True of plain transfers; not known after a start, and then assumed not to be. */
  readonly isPlain: boolean
}

export interface Lane {
  readonly chainId: number
  /** The nonce after the last one with durable signed bytes; null until read from the chain. */
  nextNonce: number | null
  /** In-flight bound: 16, or 1 for an account with code (geth's pool takes one). */
  window: number
  /**
   * Nonces from this one on were handed out here, so that a free one is what became of a drop;
   * those below are used as far as the node said that the lane began by.
   */
  ownFrom: number
  /** Drafts with a nonce, in nonce order: nextNonce, nextNonce + 1, … */
  signing: TxId[]
  queued: TxId[]
  /** Calls to be valued anew, one after the other; the first of them is being. See unmined-calls.ts. */
  line: TxId[]
  /** Drafts being signed at a nonce out of `gaps`. */
  filling: TxId[]
  /** Draining: one signature failed; nothing new is signed until the rest are heard of. */
  sequence: 'steady' | 'draining'
  /** Stored and not mined, in nonce order. */
  flight: TxId[]
  /** Nonces below nextNonce that nothing of ours occupies any more; ascending. */
  gaps: number[]
  /**
   * Nonces below this one are used on chain as far as this process has seen: a node that lags
   * must not make them look free.
   */
  usedBelow: number
  /** Newest block known to be final by the blocks that were followed; null until the first. */
  finalBlock: Place | null
}

/** In-flight transactions of a plain account (DESIGN §3): geth queues 64, others fewer. */
export const WINDOW_PLAIN = 16
export const WINDOW_DELEGATED = 1

/** Drafts and open transactions of one sub-wallet; beyond it OVERLOADED. */
export const OPEN_MAX = 5_000

/** Drafts of one lane being signed at once; the quorum's batches take 32, two under way. */
export const SIGNING_MAX = 64

/** An entry of a transaction that no caller of this process waits for. */
export function restoredEntry(
  tx: Transaction,
  flight: OpenEntry['flight'],
  isPlain = false,
): OpenEntry {
  return {
    tx,
    flight,
    token: null,
    sentAtBlock: null,
    sentAtMs: 0,
    takenAtBlock: null,
    takenAtMs: 0,
    mayBeOut: true,
    refusals: 0,
    hasLanded: false,
    losses: 0,
    proofKey: null,
    idempotency: null,
    replacing: false,
    isPlain,
  }
}

export function emptyState(subWalletId: SubWalletId): SubWalletState {
  return {
    subWalletId,
    wallet: null,
    keys: new Map(),
    spend: new Map(),
    drafted: new Map(),
    limitsTold: new Map(),
    lanes: new Map(),
    drafts: new Map(),
    open: new Map(),
    listed: new Set(),
    listedMarked: false,
    ended: new Map(),
    running: new Map(),
    allowances: new Map(),
    allowancesComplete: false,
    sponsored: new Map(),
    delegations: new Map(),
    intentNonces: new Map(),
    sponsoredGas: { day: 0, micros: 0n },
    grants: noOpenGrants(),
  }
}

export function laneOf(state: SubWalletState, chainId: number): Lane {
  const known = state.lanes.get(chainId)
  if (known !== undefined) return known
  const lane: Lane = {
    chainId,
    nextNonce: null,
    window: WINDOW_PLAIN,
    ownFrom: 0,
    signing: [],
    queued: [],
    line: [],
    filling: [],
    sequence: 'steady',
    flight: [],
    gaps: [],
    usedBelow: 0,
    finalBlock: null,
  }
  state.lanes.set(chainId, lane)
  return lane
}

/** All that counts against a lineage's caps now: stored and drafted. */
export function countersOf(
  state: SubWalletState,
  lineageId: LineageId,
  nowMs: number,
): SpendCounters {
  return combine(
    state.spend.get(lineageId) ?? NO_SPEND,
    state.drafted.get(lineageId) ?? NO_SPEND,
    nowMs,
  )
}

export function runningKey(lineageId: LineageId, key: string): string {
  return `${lineageId}|${key}`
}
