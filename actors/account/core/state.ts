import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { Call } from '../../../src/domain/call.js'
import type { Address, Hex, TxId } from '../../../src/domain/ids.js'
import type { AccountTransaction, BlockRef } from '../../../src/domain/transaction.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { ReplyToken } from '../../runtime/actor.js'

/**
 * An account as the chains know it: its nonces, and what is signed, sent and mined at them. The
 * owner knows who may make a transaction and what it counts: a sub-wallet adds keys, caps and
 * gates, a gas wallet adds jobs. Both hold drafts and transactions with more fields than these.
 *
 * The owner makes two things durable: each lane's next nonce, and every transaction that has signed
 * bytes. A crash forgets drafts and their nonces; none of them was sent.
 */
export interface AccountState {
  /** Names the account within the service; part of the ids of its own calls. */
  readonly accountId: string
  /** Null until the account has a key. */
  wallet: { readonly address: Address } | null
  readonly lanes: Map<number, NonceLane>
  readonly drafts: Map<TxId, DraftEntry>
  readonly open: Map<TxId, OpenEntry>
  /** Transactions that ended in the current command, kept until they are recorded. */
  readonly ended: Map<TxId, AccountTransaction>
  /** Ended transactions that a reorg took back and whose records are being read. Volatile. */
  readonly endsRead: Set<TxId>
}

/** A transaction without durable signed bytes at its nonce. */
export interface AccountDraft {
  readonly call: Call
  readonly txId: TxId
  readonly requestId: string
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly createdAtMs: number
  readonly token: ReplyToken | null
  /**
   * `lost-nonce`: a stored transaction whose nonce was used by another is signed again at a new
   * one.
   */
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
 * | failed | not signed; waits until all other signatures are answered | the lane |
 */
export interface DraftEntry<D extends AccountDraft = AccountDraft> {
  draft: D
  phase: 'screening' | 'queued' | 'signing' | 'held' | 'failed'
  /** Set while signing or held. */
  nonce: number
  /**
   * An approval at the same nonce that the identity provider still holds; see the custody README.
   */
  replaces: Hex | null
  signed: SignedBytes | null
  /** The lists of its clean verdict; empty until screened, and for calls that need no screening. */
  screenedAgainst: readonly ScreenedAgainst[]
  fault: Fault | null
}

/**
 * | flight | meaning |
 * |---|---|
 * | waiting | stored; the lane's window is full, or no node was tried yet |
 * | sending | a node has been sent the bytes; its answer is outstanding |
 * | indeterminate | no clear answer came; the same bytes are sent again at the next block |
 * | underpriced | no node accepts it at this fee; it is replaced at the next block |
 * | nonce-lost | its nonce went to another transaction; it is being signed at a new one |
 * | sent | a node has it |
 */
export interface OpenEntry<T extends AccountTransaction = AccountTransaction> {
  tx: T
  flight: 'waiting' | 'sending' | 'indeterminate' | 'underpriced' | 'nonce-lost' | 'sent'
  /** The caller that still waits for an answer. */
  token: ReplyToken | null
  /**
   * The height at which a node first took the newest attempt; null until then, or while unknown.
   */
  sentAtBlock: number | null
  /** The time of that, in milliseconds; 0 until then. */
  sentAtMs: number
  /**
   * The height and the time at which a node last reported the newest attempt as known; null and 0
   * until then.
   */
  takenAtBlock: number | null
  takenAtMs: number
  /**
   * True once a node may hold its bytes: from then on no refusal proves that it will not be mined.
   * A restarted process does not know, and so must assume it.
   */
  maybeBroadcast: boolean
  /** The number of refusals in a row since a node last took it. */
  refusals: number
  /** True once a block that is now gone had it: a loss of its nonce then needs repeated proof. */
  hasLanded: boolean
  /** The number of proofs in a row that another transaction used its nonce. */
  losses: number
  /** True while a replacement is being signed. */
  replacing: boolean
}

/** The nonces of an account on one chain. */
export interface NonceLane {
  readonly chainId: number
  /** The nonce after the last one with durable signed bytes; null until read from the chain. */
  nextNonce: number | null
  /** The in-flight bound: 16, or 1 for an account with code (geth's pool takes one). */
  window: number
  /**
   * Nonces from this one on were handed out here, so a free one was dropped here. Those below it
   * are used, according to the node that gave the lane its first nonce.
   */
  ownFrom: number
  /** Drafts with a nonce, in nonce order: nextNonce, nextNonce + 1, … */
  signing: TxId[]
  queued: TxId[]
  /** Drafts that their owner took back out of the queue, in their order. */
  line: TxId[]
  /** Drafts being signed at a nonce out of `gaps`. */
  filling: TxId[]
  /** Draining: one signature failed; nothing new is signed until the others are answered. */
  sequence: 'steady' | 'draining'
  /** Stored and not mined, in nonce order. */
  flight: TxId[]
  /** Nonces below nextNonce that no transaction of ours occupies; ascending. */
  gaps: number[]
  /**
   * Nonces below this one are used on chain, as far as this process has seen: a node that lags must
   * not make them look free.
   */
  usedBelow: number
  /** The newest block known to be final by the followed blocks; null until the first. */
  finalBlock: BlockRef | null
}

/** In-flight transactions of a plain account: geth queues 64, other nodes fewer. */
export const WINDOW_PLAIN = 16
export const WINDOW_DELEGATED = 1

/** The most drafts and open transactions of one account; beyond this the answer is OVERLOADED. */
export const OPEN_MAX = 5_000

/**
 * After this many refusals in a row, a transaction that may still be in a pool is cancelled. No node
 * lags that long.
 */
export const REFUSALS_TO_CANCEL = 5

/**
 * The most drafts of one lane that are being signed: the quorum's batches take 32, and two are
 * under way.
 */
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

/** Makes the entry of a transaction that no caller of this process waits for. */
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

/**
 * True while no transaction of the lane is signed and not mined: it may then follow the chain's
 * nonce.
 */
export function isIdle({ signing, flight }: NonceLane): boolean {
  return signing.length === 0 && flight.length === 0
}
