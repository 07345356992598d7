import type { ApiKey } from '../../../src/domain/api-key.js'
import { IDEMPOTENCY_TTL_MS, quoteKey } from '../../../src/domain/idempotency.js'
import type { TxId } from '../../../src/domain/ids.js'
import { fault } from '../../../src/errors/fault.js'
import { OPEN_MAX } from '../../account/core/state.js'
import { type CallAtGates, keyOf } from './call-at-gates.js'
import { waitingFault } from './decide-approvals.js'
import { inProgress, joinCall } from './joined-callers.js'
import { ancestorsOf, hasKeyEnded } from './key-tree.js'
import { Sent } from './sent.js'
import { runningKey } from './state.js'
import type { Turn } from './turn.js'

/**
 * The gates of `lifecycle.ts` except the caps. Each returns false once it has answered the caller.
 */

/** Checks the key in its present form, so that a revocation takes effect at once. */
export function passesKey(turn: Turn, asked: CallAtGates): boolean {
  const { state } = turn
  const key = state.keys.get(asked.keyId)
  const ended = key === undefined || hasKeyEnded(state, key.keyId, asked.nowMs)
  if (state.wallet === null || ended) return refuseKey(turn, asked)
  asked.key = key
  if (key.permission === 'trade') return true
  turn.refuseSend(asked.token, fault('PERMISSION_DENIED'), asked.request)
  return false
}

function refuseKey(turn: Turn, { request, token }: CallAtGates): false {
  const invalid = fault('INVALID_KEY')
  turn.noteRefused(request.txId, invalid)
  turn.refuse(token, invalid)
  return false
}

/** Checks the freezes in the form that the shell has just read. */
export function passesFrozen(turn: Turn, asked: CallAtGates): boolean {
  const frozen = turn.freezeFault(keyOf(asked).lineageId)
  if (frozen === null) return true
  turn.refuseSend(asked.token, frozen, asked.request)
  return false
}

export function passesChain(turn: Turn, asked: CallAtGates): boolean {
  const { chainId, request, token } = asked
  const key = keyOf(asked)
  const above = ancestorsOf(turn.state, key.lineageId)
  if (
    key.allowedChains.includes(chainId) &&
    above.every(({ allowedChains }) => allowedChains.includes(chainId))
  ) {
    return true
  }
  turn.refuseSend(token, fault('CHAIN_NOT_ALLOWED', { chain_id: chainId }), request)
  return false
}

/** Answers a repeated call with the answer of its first: by Idempotency-Key, then by quote. */
export function passesIdempotency(turn: Turn, asked: CallAtGates): boolean {
  return passesFirst(turn, asked) && passesExecuted(turn, asked)
}

/** Allows a quote to be executed only once, whatever Idempotency-Key the second call has. */
function passesExecuted(turn: Turn, asked: CallAtGates): boolean {
  const { quoted, token } = asked
  if (quoted === null) return true
  const { name, executed } = quoted
  if (executed !== null) {
    turn.answer(token, new Sent(executed, true))
    return false
  }
  const running = turn.state.running.get(runningKey(name.lineageId, quoteKey(name)))
  if (running === undefined) return true
  answerUnderWay(turn, running, asked)
  return false
}

function passesFirst(turn: Turn, asked: CallAtGates): boolean {
  const { idempotency, first, nowMs, token } = asked
  if (idempotency === null) return true
  if (first !== null && nowMs < first.record.createdAtMs + IDEMPOTENCY_TTL_MS) {
    if (first.record.bodyHash !== idempotency.bodyHash) {
      turn.refuse(token, fault('IDEMPOTENCY_KEY_REUSED'))
    } else turn.answer(token, new Sent(first.tx, true))
    return false
  }
  const { lineageId } = keyOf(asked)
  const running = turn.state.running.get(runningKey(lineageId, idempotency.key))
  if (running === undefined) return true
  answerAgain(turn, running, idempotency.bodyHash, asked)
  return false
}

/** Checks calls without an Idempotency-Key for duplicates. */
export function passesDuplicate(turn: Turn, asked: CallAtGates): boolean {
  const isGuarded = asked.guardsDuplicates || keyOf(asked).duplicateGuard === 'on'
  if (asked.idempotency !== null || !isGuarded) return true
  const duplicate = asked.findDuplicate()
  if (duplicate === null) return true
  turn.refuseSend(asked.token, fault('DUPLICATE_SUSPECTED', { tx_id: duplicate }), asked.request)
  return false
}

export function passesRoom(turn: Turn, { token }: CallAtGates): boolean {
  const { drafts, open, sponsored } = turn.state
  if (drafts.size + open.size + sponsored.size < OPEN_MAX) return true
  turn.refuse(token, fault('OVERLOADED', { open_transactions_max: OPEN_MAX }))
  return false
}

export function passesQuote(turn: Turn, asked: CallAtGates): boolean {
  const { quote, chainId, request, token } = asked
  if (!quote.ok) {
    turn.refuseSend(token, quote.fault, request)
    return false
  }
  if (!quote.unpriced) return true
  const key = keyOf(asked)
  if (mayMoveUnpriced([key, ...ancestorsOf(turn.state, key.lineageId)])) return true
  turn.refuseSend(token, fault('PRICE_UNAVAILABLE', { chain_id: chainId }), request)
  return false
}

/** @param path a key and the keys above it */
export function mayMoveUnpriced(path: readonly Pick<ApiKey, 'unpricedAssets'>[]): boolean {
  return path.every(({ unpricedAssets }) => unpricedAssets !== 'deny')
}

/**
 * Refuses what screening found before valuation. The screening effect checks everything else once
 * the call holds a reservation.
 */
export function passesEarlyScreening(turn: Turn, asked: CallAtGates): boolean {
  const { screened, request, token } = asked
  if (screened === null || screened === undefined) return true
  turn.refuseSend(token, screened.refusal, request, screened.screenedAgainst)
  return false
}

/**
 * Checks whether the wallet may have another waiting call; the call waits after it has passed
 * screening.
 */
export function passesApprovalCapacity(turn: Turn, { asks, request, token }: CallAtGates): boolean {
  if (asks === undefined) return true
  const full = waitingFault(turn.state, request.call.data)
  if (full === null) return true
  turn.refuseSend(token, full, request)
  return false
}

export function passesNonce(
  turn: Turn,
  { hasNonce, chainId, request, token }: CallAtGates,
): boolean {
  if (hasNonce) return true
  turn.refuseSend(token, fault('CHAIN_UNAVAILABLE', { chain_id: chainId }), request)
  return false
}

/** Answers with the first call of this Idempotency-Key, which is a draft or an open transaction. */
function answerAgain(turn: Turn, txId: TxId, bodyHash: string, again: CallAtGates): void {
  const { requests, drafts } = turn.state
  const asked =
    turn.state.waiting.byTx.get(txId) ??
    requests.get(txId) ??
    sponsoredRequest(turn, txId) ??
    drafts.get(txId)?.draft
  const first = asked?.idempotency ?? null
  if (first !== null && first.bodyHash !== bodyHash) {
    turn.refuse(again.token, fault('IDEMPOTENCY_KEY_REUSED'))
  } else answerUnderWay(turn, txId, again)
}

/** Who executes a quote waits for the record of its first execution; all others ask again. */
function answerUnderWay(turn: Turn, txId: TxId, { token, keyId, quoted }: CallAtGates): void {
  const { open: transactions } = turn.state
  const open = transactions.get(txId) ?? waitingEntry(turn, txId) ?? sponsoredEntry(turn, txId)
  if (open !== undefined && open.tx !== null && open.token === null) {
    turn.answer(token, new Sent(open.tx, true))
  } else if (token === null || quoted === null || !joinCall(turn, txId, { token, keyId })) {
    turn.refuse(token, inProgress(txId))
  }
}

/** A sponsored call in the same form; its transaction is null until its gas wallet has signed. */
function sponsoredEntry(turn: Turn, txId: TxId) {
  const entry = turn.state.sponsored.get(txId)
  if (entry === undefined) return undefined
  const { tx, token } = entry
  return { tx, token }
}

/** A waiting call in the same form; its first caller has been answered. */
function waitingEntry(turn: Turn, txId: TxId) {
  const call = turn.state.waiting.byTx.get(txId)
  return call === undefined ? undefined : { tx: call.tx, token: null }
}

function sponsoredRequest(turn: Turn, txId: TxId) {
  const entry = turn.state.sponsored.get(txId)
  return entry === undefined ? undefined : (entry.sponsorship ?? entry.draft)
}
