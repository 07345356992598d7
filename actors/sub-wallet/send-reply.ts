import { transactionJson } from '../../src/api/transaction-json.js'
import type { Hex, TxId } from '../../src/domain/ids.js'
import { currentHash, isFinal, type Transaction } from '../../src/domain/transaction.js'
import type { ErrorCode } from '../../src/errors/catalogue.js'
import { fault } from '../../src/errors/fault.js'
import type { AskResult } from '../runtime/actor.js'
import { Sent } from './core/sent.js'

/**
 * `Sent` in the form that leaves the thread. Passing the record would cost five times as much, and
 * it would then be turned into this text.
 */
export interface SendReply {
  readonly txId: TxId
  readonly txHash: Hex
  readonly broadcast: boolean
  readonly updatedAtMs: number
  readonly status: 200 | 202
  /** A `TransactionView` as JSON. */
  readonly json: string
  readonly replayed: boolean
  /**
   * From the decision until both keys had signed; null when the time says nothing about this host.
   */
  readonly signingMs: number | null
}

/** A list crosses threads for less than half the cost of an object with as many names. */
export type EncodedSendReply = readonly [
  txId: SendReply['txId'],
  txHash: SendReply['txHash'],
  broadcast: SendReply['broadcast'],
  updatedAtMs: SendReply['updatedAtMs'],
  status: SendReply['status'],
  json: SendReply['json'],
  replayed: SendReply['replayed'],
  signingMs: SendReply['signingMs'],
]

/**
 * @param headOf returns the newest block of a chain, or null until one was seen
 * @returns the encoded answer; answers of other kinds are unchanged
 */
export function encodeAnswer(
  result: AskResult,
  headOf: (chainId: number) => number | null,
): AskResult {
  if (!result.ok || !(result.value instanceof Sent)) return result
  const { tx, replayed, queuedBehind } = result.value
  if (replayed && tx.status === 'dropped' && tx.error !== null) {
    // Spec silent: a dropped transaction is answered as failed, even when it was once answered
    // `broadcast`. Calling it broadcast again would make its caller wait for ever.
    const { code, message } = tx.error
    return { ok: false, fault: fault(code as ErrorCode, { tx_id: tx.txId }, message) }
  }
  if (tx.attempts.length === 0) return { ok: true, value: waitingReply(tx, replayed) }
  const shown = replayed ? asFirstAnswered(tx) : tx
  // A sponsored call waits for nodes before it is signed.
  const signedAtMs = tx.kind === 'send' && !replayed ? tx.attempts[0]?.signedAtMs : undefined
  const value: EncodedSendReply = [
    tx.txId,
    currentHash(tx),
    tx.status === 'broadcast',
    tx.updatedAtMs,
    shown.status === 'signed' ? 202 : 200,
    explained(transactionJson(shown, headOf(tx.call.chainId)), queuedBehind),
    replayed,
    signedAtMs === undefined ? null : signedAtMs - tx.createdAtMs,
  ]
  return { ok: true, value }
}

/**
 * The answer for a call without a hash: it waits for a person or for its gas wallet, or ended
 * before it was signed.
 */
function waitingReply(tx: Transaction, replayed: boolean): EncodedSendReply {
  const status = isFinal(tx.status) ? 200 : 202
  return [tx.txId, '0x', false, tx.updatedAtMs, status, transactionJson(tx, null), replayed, null]
}

/** @param json the JSON of an object */
function explained(json: string, queuedBehind: TxId | null): string {
  return queuedBehind === null ? json : `${json.slice(0, -1)},"queued_behind":"${queuedBehind}"}`
}

export function decodeSendReply(carried: EncodedSendReply): SendReply {
  const [txId, txHash, broadcast, updatedAtMs, status, json, replayed, signingMs] = carried
  return { txId, txHash, broadcast, updatedAtMs, status, json, replayed, signingMs }
}

/** Repeats the first answer: later changes of the transaction are in its status. */
function asFirstAnswered(tx: Transaction): Transaction {
  const first = tx.attempts[0]
  return {
    ...tx,
    status: tx.status === 'signed' ? 'signed' : 'broadcast',
    attempts: first === undefined ? tx.attempts : [first],
    spentMicros: tx.reservation.micros,
    mined: null,
    error: null,
    confirmedAtMs: null,
  }
}
