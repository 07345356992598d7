import type { Approval } from '../../../src/domain/approval.js'
import type { TxId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'

/**
 * Calls that wait for a person or for their time. Durable: the calls, what they hold of the
 * counters, and who decided. Volatile: who is being told, and which call is being judged anew.
 */
export interface WaitingCalls {
  /** False where nobody can be asked: then no call begins to wait. */
  isOpen: boolean
  readonly byTx: Map<TxId, WaitingCall>
  /** Those that the quorum was asked to sign, and that may be signed at that nonce alone. */
  readonly bound: Set<TxId>
  /** Of all their calldata together. */
  dataChars: number
  /** The one of which the identity provider is being told; null: none. */
  registering: TxId | null
  /** True between an attempt to tell that failed and the next. */
  resting: boolean
  /** Attempts in a row that failed. */
  failures: number
  /** For which times a look at what is due was asked for; each one asked for is the soonest. */
  wakesAtMs: readonly number[]
}

/**
 * | phase | meaning | moved on by |
 * |---|---|---|
 * | asked | people, or its time, have yet to come | a decision, the clock |
 * | running | let through: it is judged anew, as a draft that is screened and signed | that draft |
 * | resting | something did not answer when it was judged anew | the clock |
 */
export interface WaitingCall {
  tx: Transaction
  approval: Approval
  phase: 'asked' | 'running' | 'resting'
  /** Before which it is not judged anew. */
  restUntilMs: number
  /** Attempts to register it with the identity provider that failed. */
  timesFailed: number
  /** Times in a row that it had to rest. */
  rests: number
  /** Of a request that this process saw; null after a start. */
  idempotency: { readonly key: string; readonly bodyHash: string } | null
}

/** Waiting calls of one sub-wallet; a person who has more to read reads none. */
export const WAITING_MAX = 2_000
/**
 * The same of a user's wallets together, as each of them last saw it: what is asked for in several at
 * once may pass it by a few. The identity provider keeps no more of one user.
 */
export const WAITING_OF_USER_MAX = 4_000
/** Characters of their calldata together: they stay in memory for as long as they wait. */
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

/** As the store has it. */
export function restoreWaiting(waiting: WaitingCalls, tx: Transaction, approval: Approval): void {
  addWaiting(waiting, tx, approval, null)
}

export function addWaiting(
  waiting: WaitingCalls,
  tx: Transaction,
  approval: Approval,
  idempotency: WaitingCall['idempotency'],
): void {
  waiting.byTx.set(tx.txId, {
    ...{ tx, approval, phase: 'asked', restUntilMs: 0, timesFailed: 0, rests: 0, idempotency },
  })
  if (approval.boundNonce !== null) waiting.bound.add(tx.txId)
  waiting.dataChars += tx.call.data.length
}
