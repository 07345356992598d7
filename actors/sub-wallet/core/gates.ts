import { IDEMPOTENCY_TTL_MS } from '../../../src/domain/idempotency.js'
import type { TxId } from '../../../src/domain/ids.js'
import { fault } from '../../../src/errors/fault.js'
import { OPEN_MAX } from '../../account/core/state.js'
import type { ReplyToken } from '../../runtime/actor.js'
import { type CallAtGates, keyOf } from './call-at-gates.js'
import { waitingFault } from './decide-approvals.js'
import { ancestorsOf, hasKeyEnded } from './key-tree.js'
import { Sent } from './sent.js'
import { runningKey } from './state.js'
import type { Turn } from './turn.js'

/** The gates of `lifecycle.ts` but the caps. Each is false once it has answered the caller. */

/** As it is now, so that a revocation counts at once. */
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

/** As its shell saw it last, which is now. */
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

/** Answers a repeated request as its first was answered. */
export function passesIdempotency(turn: Turn, asked: CallAtGates): boolean {
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
  answerAgain(turn, running, idempotency.bodyHash, token)
  return false
}

/** Of calls without an Idempotency-Key. */
export function passesDuplicate(turn: Turn, asked: CallAtGates): boolean {
  if (asked.idempotency !== null || keyOf(asked).duplicateGuard !== 'on') return true
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
  const path = [key, ...ancestorsOf(turn.state, key.lineageId)]
  if (path.every(({ unpricedAssets }) => unpricedAssets !== 'deny')) return true
  turn.refuseSend(token, fault('PRICE_UNAVAILABLE', { chain_id: chainId }), request)
  return false
}

/** What is known at once. All else the screening effect says, once the call holds a reservation. */
export function passesEarlyScreening(turn: Turn, asked: CallAtGates): boolean {
  const { screened, request, token } = asked
  if (screened === null || screened === undefined) return true
  turn.refuseSend(token, screened.refusal, request, screened.screenedAgainst)
  return false
}

/** What is asked about waits once it has passed its screening; here it is asked whether it may. */
export function passesWaitingRoom(turn: Turn, { asks, request, token }: CallAtGates): boolean {
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

/** The first request with this Idempotency-Key is a draft, or a transaction that is still open. */
function answerAgain(turn: Turn, txId: TxId, bodyHash: string, token: ReplyToken | null): void {
  const { open: transactions, requests, drafts } = turn.state
  const open = transactions.get(txId) ?? waitingEntry(turn, txId) ?? sponsoredEntry(turn, txId)
  const asked =
    turn.state.waiting.byTx.get(txId) ??
    requests.get(txId) ??
    sponsoredRequest(turn, txId) ??
    drafts.get(txId)?.draft
  const first = asked?.idempotency ?? null
  if (first !== null && first.bodyHash !== bodyHash) {
    turn.refuse(token, fault('IDEMPOTENCY_KEY_REUSED'))
  } else if (open === undefined || open.tx === null || open.token !== null) {
    turn.refuse(token, fault('IDEMPOTENCY_IN_PROGRESS', { tx_id: txId }))
  } else turn.answer(token, new Sent(open.tx, true))
}

/** A sponsored call, in the same terms; it has no transaction before its gas wallet signed. */
function sponsoredEntry(turn: Turn, txId: TxId) {
  const entry = turn.state.sponsored.get(txId)
  if (entry === undefined) return undefined
  const { tx, token } = entry
  return { tx, token }
}

/** Its first caller has its answer. */
function waitingEntry(turn: Turn, txId: TxId) {
  const call = turn.state.waiting.byTx.get(txId)
  return call === undefined ? undefined : { tx: call.tx, token: null }
}

function sponsoredRequest(turn: Turn, txId: TxId) {
  const entry = turn.state.sponsored.get(txId)
  return entry === undefined ? undefined : (entry.sponsorship ?? entry.draft)
}
