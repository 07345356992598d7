import type { ApiKey } from '../../../src/domain/api-key.js'
import { isSameCall } from '../../../src/domain/call.js'
import type { TxId } from '../../../src/domain/ids.js'
import { fault } from '../../../src/errors/fault.js'
import { pumpSigning } from '../../account/core/signing.js'
import { isIdle, laneOf, WINDOW_DELEGATED, WINDOW_PLAIN } from '../../account/core/state.js'
import type { ReplyToken } from '../../runtime/actor.js'
import { type CallAtGates, DUPLICATE_WINDOW_MS } from './call-at-gates.js'
import { askedFirst, maxNativeWeiOf } from './decide-approvals.js'
import { callsAheadOf } from './kept-nonces.js'
import { passesAgain, passesGates } from './lifecycle.js'
import type { Command, PreparedSend } from './messages.js'
import { askAgain, askedAgainFor, type NewTerm } from './run-approved.js'
import type { Draft, SubWalletState } from './state.js'
import type { Turn } from './turn.js'
import { isPlain } from './unmined-calls.js'
import { waitingOf } from './waiting-calls.js'

/** A call that is outdated after this many valuations has a node too slow for its chain. */
const REQUOTES_MAX = 3
const TOO_FAST = 'The chain moved on each time the call was valued; try again.'

/** Runs the call through the gates; a call that passes goes on to screening. */
export function admitSend(turn: Turn, command: PreparedSend, token: ReplyToken | null): void {
  const { state } = turn
  const { nowMs, call, quote, chainNonce, payees } = command
  const { chainId } = call
  if (payees !== undefined) turn.emit({ type: 'payees-read', payees })
  // The fields are copied one by one: a spread of the command was the slowest line of a send's
  // decision.
  const asked: CallAtGates = {
    keyId: command.keyId,
    chainId,
    nowMs,
    idempotency: command.idempotency,
    first: command.first,
    quoted: null,
    quote,
    sponsoredGasMicros: null,
    intent: null,
    screened: command.screened ?? null,
    hasNonce: chainNonce !== null || laneOf(state, chainId).nextNonce !== null,
    request: command,
    token,
    findDuplicate: () => duplicateOf(state, command),
    guardsDuplicates: command.guardsDuplicates,
    key: null,
    priced: null,
    counted: undefined,
    asks: undefined,
    admitted: null,
  }
  if (!passesGates(turn, asked)) return
  const { admitted } = asked
  if (admitted === null || !quote.ok) return
  const { key, reservation, valuation, paid } = admitted
  const draft: Draft = {
    txId: command.txId,
    requestId: command.requestId,
    keyId: command.keyId,
    lineageId: key.lineageId,
    kind: command.kind,
    call,
    gasLimit: quote.gasLimit,
    maxFeePerGas: quote.fees.maxFeePerGas,
    maxPriorityFeePerGas: quote.fees.maxPriorityFeePerGas,
    valuation,
    reservation,
    paid,
    problem: quote.problem,
    basis: quote.basis,
    requotes: 0,
    proofKey: command.proofKey,
    idempotency: command.idempotency,
    token,
    createdAtMs: nowMs,
    signs: 'first-time',
    counted: asked.counted,
    asks: asked.asks,
  }
  syncLane(turn, chainId, chainNonce, quote.accountHasCode)
  turn.emit({ type: 'reserved', draft })
  askToScreen(turn, draft, key.userId)
}

function askToScreen(turn: Turn, draft: Draft, userId: ApiKey['userId']): void {
  const unmined = isPlain(draft) ? null : callsAheadOf(turn.state, draft)
  turn.effect({ type: 'screen', userId, draft, unmined, revalues: false })
}

/** A call that waited is signed only with a current valuation. */
function problemOf({ problem, approval, basis, call }: Draft): Draft['problem'] {
  if (approval === undefined || basis !== null) return problem
  return fault('CHAIN_UNAVAILABLE', { chain_id: call.chainId })
}

/** Prepares a screened call for approval, once the terms that people sign are known. */
function readyApproval(
  turn: Turn,
  draft: Draft,
  screenedAgainst: Extract<Command, { type: 'screened' }>['screenedAgainst'],
): void {
  const { txId, keyId, proofKey, call } = draft
  turn.emit({ type: 'approval-wanted', txId, screenedAgainst })
  const asked = askedFirst(
    turn.state,
    txId,
    keyId,
    { kind: 'transaction', call },
    maxNativeWeiOf(draft),
  )
  turn.effect({ type: 'ready-approval', txId, asked, proofKey })
}

/** Step 3 of the lifecycle: a call that passed screening waits for its nonce. */
export function screened(turn: Turn, command: Extract<Command, { type: 'screened' }>): void {
  const { txId, refusal, screenedAgainst } = command
  const entry = turn.state.drafts.get(txId)
  if (entry === undefined || entry.phase !== 'screening') return
  const { draft } = entry
  const lane = laneOf(turn.state, draft.call.chainId)
  const wasFirst = lane.line[0] === txId
  const no = refusal ?? (command.requoted === null ? problemOf(draft) : null)
  if (no !== null) {
    turn.emit({ type: 'released', txId })
    turn.refuseSend(draft.token, no, draft, screenedAgainst)
  } else if (command.requoted !== null) {
    requote(turn, draft, command)
  } else if (draft.asks !== undefined && draft.approval === undefined) {
    readyApproval(turn, draft, screenedAgainst)
  } else if (!wasFirst && lane.line.length > 0 && !isPlain(draft)) {
    // The waiting calls in the queue will be mined first, and nothing can be valued after them yet.
    turn.emit({ type: 'lined-up', txId, first: false })
  } else {
    turn.emit({ type: 'queued', txId, screenedAgainst })
    if (wasFirst) turn.lineMoved(lane)
    pumpSigning(turn, lane)
  }
}

/**
 * The chain or the prices moved between valuation and signing: the draft keeps its place, and the
 * gates that depend on the quote check the call again at its present value.
 */
function requote(
  turn: Turn,
  draft: Draft,
  { requoted: quote, nowMs, chainNonce = null }: Extract<Command, { type: 'screened' }>,
): void {
  if (quote === null) throw new Error(`${draft.txId} was not valued again`)
  const { txId, keyId, idempotency, token } = draft
  const { chainId } = draft.call
  const requotes = (draft.requotes ?? 0) + 1
  if (requotes > REQUOTES_MAX) {
    turn.emit({ type: 'released', txId })
    turn.refuseSend(token, fault('CHAIN_UNAVAILABLE', { chain_id: chainId }, TOO_FAST), draft)
    return
  }
  const held: Draft = { ...draft, createdAtMs: nowMs }
  // The draft must not count against itself, so caps, credits and policy are checked without its
  // reservation.
  const nothing = { ...draft.reservation, micros: 0n }
  turn.emit({
    type: 'reserved-again',
    draft: { ...held, reservation: nothing, paid: null, counted: undefined },
  })
  const asked: CallAtGates = {
    ...{ keyId, chainId, nowMs, idempotency, first: null, quote, request: draft, token },
    quoted: null,
    ...{ sponsoredGasMicros: null, intent: null, screened: null, hasNonce: true, key: null },
    ...{ priced: null, counted: undefined, asks: undefined, admitted: null },
    findDuplicate: () => null,
    guardsDuplicates: false,
  }
  if (!passesAgain(turn, asked) || asked.admitted === null || !quote.ok) {
    // The waiting call keeps its former reservation.
    if (draft.approval !== undefined) turn.emit({ type: 'reserved-again', draft: held })
    turn.emit({ type: 'released', txId })
    return
  }
  const { key, reservation, valuation, paid } = asked.admitted
  const { gasLimit, fees, problem, basis } = quote
  const reserved: Draft = {
    ...{ ...draft, gasLimit, ...fees, problem, basis, requotes },
    ...{ reservation, valuation, paid, createdAtMs: nowMs, counted: asked.counted },
    ...(draft.approval === undefined ? { asks: asked.asks } : {}),
  }
  syncLane(turn, chainId, chainNonce, quote.accountHasCode)
  turn.emit({ type: 'reserved-again', draft: reserved })
  if (draft.approval !== undefined) {
    const waiting = waitingOf(turn.state, txId)
    const isDearer = gasLimit * fees.maxFeePerGas > waiting.approval.maxNativeWei
    const why = askedAgainFor(waiting, asked) ?? (isDearer ? 'gas' : null)
    if (why !== null) {
      turn.emit({ type: 'released', txId })
      askAgain(turn, txId, newTermOf(reserved, why, asked.asks), nowMs)
      return
    }
    if (laneOf(turn.state, chainId).nextNonce === null) {
      turn.emit({ type: 'released', txId })
      turn.refuseSend(token, fault('CHAIN_UNAVAILABLE', { chain_id: chainId }), draft)
      return
    }
  }
  askToScreen(turn, reserved, key.userId)
}

function newTermOf(draft: Draft, why: NewTerm['why'], asks: NewTerm['asks']): NewTerm {
  const { valuation, counted = null } = draft
  const maxNativeWei = maxNativeWeiOf(draft)
  const { valueMicros } = valuation
  return { why, asks, maxNativeWei, valueMicros, counted, sponsored: null }
}

/**
 * Starts a lane at the chain's nonce, and moves it forward when the account was used from outside.
 */
function syncLane(turn: Turn, chainId: number, chainNonce: number | null, hasCode: boolean): void {
  const lane = laneOf(turn.state, chainId)
  const window = hasCode ? WINDOW_DELEGATED : WINDOW_PLAIN
  const behind = chainNonce !== null && isIdle(lane) && (lane.nextNonce ?? -1) < chainNonce
  if (!behind && lane.window === window) return
  const nextNonce = behind ? chainNonce : lane.nextNonce
  turn.emit({ type: 'lane-synced', chainId, before: lane.nextNonce, nextNonce, window })
}

/**
 * Finds a recent transaction with the same chain, recipient, calldata and value that is not final.
 */
export function duplicateOf(
  state: SubWalletState,
  command: Pick<PreparedSend, 'nowMs' | 'call'>,
): TxId | null {
  const since = command.nowMs - DUPLICATE_WINDOW_MS
  const same = ({ createdAtMs, call }: Pick<Draft, 'createdAtMs' | 'call'>) =>
    createdAtMs > since && isSameCall(call, command.call)
  for (const { draft } of state.drafts.values()) if (same(draft)) return draft.txId
  for (const { tx } of state.open.values()) if (same(tx)) return tx.txId
  for (const { tx } of state.waiting.byTx.values()) if (same(tx)) return tx.txId
  return null
}
