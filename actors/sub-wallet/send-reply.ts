import { transactionJson } from '../../src/api/transaction-json.js'
import type { Hex, TxId } from '../../src/domain/ids.js'
import { currentHash, isFinal, type Transaction } from '../../src/domain/transaction.js'
import type { ErrorCode } from '../../src/errors/catalogue.js'
import { fault } from '../../src/errors/fault.js'
import type { AskResult } from '../runtime/actor.js'
import { Sent } from './core/sent.js'

/**
 * `Sent` as it leaves the thread. The record itself would cost five times as much to pass on,
 * and then be turned into this text.
 */
export interface SendReply {
  readonly txId: TxId
  readonly txHash: Hex
  readonly broadcast: boolean
  readonly updatedAtMs: number
  readonly status: 200 | 202
  /** A `TransactionView`. */
  readonly json: string
  readonly replayed: boolean
  /** From the decision until both keys had signed; null where that says nothing of this host. */
  readonly signingMs: number | null
}

/** A list crosses threads for less than half of what an object with as many names does. */
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
 * @param headOf newest block of a chain; null until one was seen
 * @returns other answers as they are
 */
export function encodeAnswer(
  result: AskResult,
  headOf: (chainId: number) => number | null,
): AskResult {
  if (!result.ok || !(result.value instanceof Sent)) return result
  const { tx, replayed, queuedBehind } = result.value
  if (replayed && tx.status === 'dropped' && tx.error !== null) {
    // Spec silent: whether it was refused at once, or answered `broadcast` and given up later,
    // nothing of it is out. Were it called broadcast again, its caller would wait for ever.
    const { code, message } = tx.error
    return { ok: false, fault: fault(code as ErrorCode, { tx_id: tx.txId }, message) }
  }
  if (tx.attempts.length === 0) return { ok: true, value: waitingReply(tx, replayed) }
  const shown = replayed ? asFirstAnswered(tx) : tx
  // What is sponsored asks nodes before it is signed.
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

/** It has no hash: it waits for a person or for its gas wallet, or ended without. */
function waitingReply(tx: Transaction, replayed: boolean): EncodedSendReply {
  const status = isFinal(tx.status) ? 200 : 202
  return [tx.txId, '0x', false, tx.updatedAtMs, status, transactionJson(tx, null), replayed, null]
}

/** @param json an object's */
function explained(json: string, queuedBehind: TxId | null): string {
  return queuedBehind === null ? json : `${json.slice(0, -1)},"queued_behind":"${queuedBehind}"}`
}

export function decodeSendReply(carried: EncodedSendReply): SendReply {
  const [txId, txHash, broadcast, updatedAtMs, status, json, replayed, signingMs] = carried
  return { txId, txHash, broadcast, updatedAtMs, status, json, replayed, signingMs }
}

/** The first answer again: what has happened to the transaction since is for its status. */
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
