import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { Call } from '../../../src/domain/call.js'
import type { Address, Hex, TxId } from '../../../src/domain/ids.js'
import type { AccountTransaction, BlockRef } from '../../../src/domain/transaction.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { ReplyToken } from '../../runtime/actor.js'

/**
 * An account as the chains know it: its nonces, and what is signed, sent and mined at them. Who may
 * ask for a transaction, and what it counts, its owner knows: a sub-wallet adds keys, caps and
 * gates, a gas wallet jobs. Both hold drafts and transactions with more fields than these.
 *
 * Durable, by its owner: each lane's next nonce, and every transaction that has signed bytes. A
 * crash forgets drafts, and with them their nonces; nothing of them was sent.
 */
export interface AccountState {
  /** Names it within the service; a part of the ids of its own calls. */
  readonly accountId: string
  /** Null until it has a key. */
  wallet: { readonly address: Address } | null
  readonly lanes: Map<number, NonceLane>
  readonly drafts: Map<TxId, DraftEntry>
  readonly open: Map<TxId, OpenEntry>
  /** Transactions that ended in the current command, until they are recorded. */
  readonly ended: Map<TxId, AccountTransaction>
  /** Of those that a reorg took back after their end: their records are being read. Volatile. */
  readonly endsRead: Set<TxId>
}

/** A transaction to be, without durable signed bytes at its nonce. */
export interface AccountDraft {
  readonly call: Call
  readonly txId: TxId
  readonly requestId: string
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly createdAtMs: number
  readonly token: ReplyToken | null
  /** `lost-nonce`: a stored transaction whose nonce went to another is signed again at a new one. */
  readonly signs: 'first-time' | 'lost-nonce'
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
 * | screening | its owner has not let it through yet | its owner |
 * | queued | waits for a place among those being signed | the lane |
 * | signing | has a nonce; the quorum is asked | the signing effect |
 * | held | signed; waits until all lower nonces are stored | the lane |
 * | failed | not signed; waits until the lane has heard of the rest | the lane |
 */
export interface DraftEntry<D extends AccountDraft = AccountDraft> {
  draft: D
  phase: 'screening' | 'queued' | 'signing' | 'held' | 'failed'
  /** Set while signing or held. */
  nonce: number
  /** Approval at the same nonce that the identity provider still holds; see custody README. */
  replaces: Hex | null
  signed: SignedBytes | null
  /** The lists of its clean verdict; empty until screened, and of what needs no screening. */
  screenedAgainst: readonly ScreenedAgainst[]
  fault: Fault | null
}

/**
 * | flight | meaning |
 * |---|---|
 * | waiting | stored; the lane's window is full, or nothing tried yet |
 * | sending | a node is being asked |
 * | indeterminate | no clear answer came; the same bytes go out again at the next block |
 * | underpriced | no node takes it at this fee; it is replaced at the next block |
 * | nonce-lost | its nonce went to another transaction; it is being signed at a new one |
 * | sent | a node has it |
 */
export interface OpenEntry<T extends AccountTransaction = AccountTransaction> {
  tx: T
  flight: 'waiting' | 'sending' | 'indeterminate' | 'underpriced' | 'nonce-lost' | 'sent'
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
  maybeBroadcast: boolean
  /** Refusals in a row since a node last took it. */
  refusals: number
  /** True once a block had it that is gone: a stranger must be seen again and again to be believed. */
  hasLanded: boolean
  /** Proofs in a row that its nonce went to a stranger. */
  losses: number
  /** True while the quorum is asked for a replacement. */
  replacing: boolean
}

/** The nonces of an account on one chain. */
export interface NonceLane {
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
  /** Drafts that their owner took back out of the queue, in their order. */
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
  finalBlock: BlockRef | null
}

/** In-flight transactions of a plain account: geth queues 64, others fewer. */
export const WINDOW_PLAIN = 16
export const WINDOW_DELEGATED = 1

/** Drafts and open transactions of one account; beyond it OVERLOADED. */
export const OPEN_MAX = 5_000

/** Drafts of one lane being signed at once; the quorum's batches take 32, two under way. */
export const SIGNING_MAX = 64

export function draftEntry<D extends AccountDraft>(
  draft: D,
  phase: DraftEntry['phase'],
): DraftEntry<D> {
  return {
    draft,
    phase,
    nonce: -1,
    replaces: null,
    signed: null,
    screenedAgainst: [],
    fault: null,
  }
}

/** An entry of a transaction that no caller of this process waits for. */
export function restoredEntry<T extends AccountTransaction>(
  tx: T,
  flight: OpenEntry['flight'],
): OpenEntry<T> {
  return {
    tx,
    flight,
    token: null,
    sentAtBlock: null,
    sentAtMs: 0,
    takenAtBlock: null,
    takenAtMs: 0,
    maybeBroadcast: true,
    refusals: 0,
    hasLanded: false,
    losses: 0,
    replacing: false,
  }
}

export function laneOf({ lanes }: Pick<AccountState, 'lanes'>, chainId: number): NonceLane {
  const known = lanes.get(chainId)
  if (known !== undefined) return known
  const lane: NonceLane = {
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
  lanes.set(chainId, lane)
  return lane
}

export function openOf<E extends OpenEntry>(
  { open }: { readonly open: ReadonlyMap<TxId, E> },
  txId: TxId,
): E {
  const entry = open.get(txId)
  if (entry === undefined) throw new Error(`${txId} is not open`)
  return entry
}

/** True while nothing of the lane is signed and not mined: it may follow the chain's nonce. */
export function isIdle({ signing, flight }: NonceLane): boolean {
  return signing.length === 0 && flight.length === 0
}
