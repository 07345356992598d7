import type { Approval } from '../../../src/domain/approval.js'
import type { QuoteName } from '../../../src/domain/idempotency.js'
import type { TxId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'

/**
 * Calls that wait for a person or for their delay. Durable are the calls, what they hold of the
 * counters, and the decisions. Volatile are the registration under way and the calls that are being
 * judged again.
 */
export interface WaitingCalls {
  /** False when nobody can be asked; then no call starts to wait. */
  isOpen: boolean
  readonly byTx: Map<TxId, WaitingCall>
  /** Calls that the quorum was asked to sign, and that may be signed only at that nonce. */
  readonly bound: Set<TxId>
  /** The characters of all their calldata together. */
  dataChars: number
  /** The call that is being registered with the identity provider; null between registrations. */
  registering: TxId | null
  /** True during the backoff after a failed registration. */
  resting: boolean
  /** The number of failed attempts in a row. */
  failures: number
  /** The times for which a timer is set; each new one is earlier than those before. */
  wakesAtMs: readonly number[]
}

/**
 * | phase | meaning | moved on by |
 * |---|---|---|
 * | asked | people, or its time, have yet to come | a decision, the clock |
 * | running | approved: it is judged again, as a draft that is screened and signed | that draft |
 * | resting | a service did not answer when it was judged again | the clock |
 */
export interface WaitingCall {
  tx: Transaction
  approval: Approval
  phase: 'asked' | 'running' | 'resting'
  /** It is not judged again before this time. */
  restUntilMs: number
  /** The number of failed attempts to register it with the identity provider. */
  timesFailed: number
  /** The number of times in a row that it had to back off. */
  rests: number
  /** Set for a request that this process received; null after a restart. */
  idempotency: { readonly key: string; readonly bodyHash: string } | null
  /** Its quote, under the same condition; absent when it executes none. */
  executes?: QuoteName | undefined
}

/** The most waiting calls of one sub-wallet; people stop reading longer lists. */
export const WAITING_MAX = 2_000
/**
 * The most waiting calls of all wallets of a user, as each wallet last saw it: concurrent requests
 * in several wallets may pass it by a few. The identity provider keeps no more of one user.
 */
export const WAITING_OF_USER_MAX = 4_000
/** The most characters of their calldata together: they stay in memory for as long as they wait. */
export const WAITING_DATA_CHARS_MAX = 8 * 1_024 * 1_024

export function noWaitingCalls(): WaitingCalls {
  return {
    isOpen: true,
    byTx: new Map(),
    bound: new Set(),
    dataChars: 0,
    registering: null,
    resting: false,
    failures: 0,
    wakesAtMs: [],
  }
}

/** Adds a waiting call in the form that the store has. */
export function restoreWaiting(waiting: WaitingCalls, tx: Transaction, approval: Approval): void {
  addWaiting(waiting, tx, approval, null)
}

export function addWaiting(
  waiting: WaitingCalls,
  tx: Transaction,
  approval: Approval,
  idempotency: WaitingCall['idempotency'],
  executes?: QuoteName,
): void {
  waiting.byTx.set(tx.txId, {
    ...{ tx, approval, phase: 'asked', restUntilMs: 0, timesFailed: 0, rests: 0, idempotency },
    executes,
  })
  if (approval.boundNonce !== null) waiting.bound.add(tx.txId)
  waiting.dataChars += tx.call.data.length
}
