import {
  type Approval,
  type ApprovalDecision,
  type AskedCall,
  type AskedSubject,
  approvalIdOf,
  approversOf,
  type HoldersNow,
  heldNow,
  isApproved,
  type WaitingSponsorship,
} from '../../../src/domain/approval.js'
import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { Call } from '../../../src/domain/call.js'
import type { Hex, KeyId, TxId } from '../../../src/domain/ids.js'
import type { Transaction, UnapprovedEnd } from '../../../src/domain/transaction.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import type { ApprovalAsked } from '../../../src/policy/approval-asked.js'
import type { ReplyToken } from '../../runtime/actor.js'
import type { ApprovalCommand, DecideApproval, WithdrawCall } from './approval-messages.js'
import { hasKeyEnded, keyEndsAtMs } from './key-tree.js'
import { predictedOutcomeOf } from './predicted-outcome.js'
import { Sent } from './sent.js'
import { callOf } from './sponsored-call.js'
import type { SponsoredDraft } from './sponsored-state.js'
import type { Draft, SubWalletState } from './state.js'
import { waitingRecord } from './transaction-record.js'
import type { Turn } from './turn.js'
import { waitingOf } from './waiting-calls.js'
import {
  WAITING_DATA_CHARS_MAX,
  WAITING_MAX,
  WAITING_OF_USER_MAX,
  type WaitingCall,
} from './waiting-state.js'

type Of<T extends ApprovalCommand['type']> = Extract<ApprovalCommand, { type: T }>

/**
 * The factor by which fees may rise before people are asked again. People sign a bound on the gas
 * cost, and days may pass before the call is signed.
 */
const GAS_HEADROOM = 3n
const SECOND_MS = 1_000
const NOBODY_ELSE: HoldersNow = {}

/** The most that the gas of a call may cost, wei, as people sign it. */
export function maxNativeWeiOf({ gasLimit, maxFeePerGas }: Draft): bigint {
  return gasLimit * maxFeePerGas * GAS_HEADROOM
}

/** Returns why no further call may wait, or null when one may. */
export function waitingFault({ waiting }: SubWalletState, data: Hex): Fault | null {
  if (waiting.byTx.size >= WAITING_MAX) {
    return fault('OVERLOADED', { waiting_calls_max: WAITING_MAX }, TOO_MANY)
  }
  if (waiting.dataChars + data.length > WAITING_DATA_CHARS_MAX) {
    return fault('OVERLOADED', { waiting_data_chars_max: WAITING_DATA_CHARS_MAX }, TOO_MANY)
  }
  return null
}

function userFault(userWaiting: number): Fault | null {
  if (userWaiting < WAITING_OF_USER_MAX) return null
  return fault('OVERLOADED', { waiting_calls_of_user_max: WAITING_OF_USER_MAX }, TOO_MANY)
}

const TOO_MANY = 'Too many calls wait for approval; decide some of them first.'

/** The call as people will see it first; its expiry is set when it starts to wait. */
export function askedFirst(
  { wallet }: SubWalletState,
  txId: TxId,
  keyId: KeyId,
  subject: AskedSubject,
  maxNativeWei: bigint,
): AskedCall {
  if (wallet === null) throw new Error(`${txId} has no wallet`)
  const { subWalletId: walletId, userId } = wallet
  const approvalId = approvalIdOf(txId)
  return { approvalId, walletId, keyId, userId, maxNativeWei, expiresAtMs: 0, subject }
}

/** A call that its key's policy sends to people, after it has passed screening. */
interface Ready {
  readonly draft: Draft | SponsoredDraft
  readonly asks: ApprovalAsked
  readonly call: Call
  readonly gasLimit: bigint
  readonly maxNativeWei: bigint
  readonly foreseen: Approval['foreseen']
  readonly sponsored: WaitingSponsorship | null
  readonly screenedAgainst: readonly ScreenedAgainst[]
  readonly token: ReplyToken | null
}

/** Returns null when the call is not ready to wait for people. */
function readyOf({ drafts, sponsored, wallet }: SubWalletState, txId: TxId): Ready | null {
  const entry = drafts.get(txId)
  if (entry !== undefined) {
    const { draft, phase, screenedAgainst } = entry
    const { asks, call, gasLimit, maxFeePerGas, basis, token } = draft
    if (phase !== 'screening' || asks === undefined) return null
    const foreseen = {
      simulated: basis?.simulated === true,
      gasUsed: basis?.gasUsed ?? null,
      maxFeeWei: basis?.maxFeeWei ?? gasLimit * maxFeePerGas,
      outcome: wallet === null ? null : predictedOutcomeOf(wallet.address, basis),
    }
    const maxNativeWei = maxNativeWeiOf(draft)
    return {
      ...{ draft, asks, call, gasLimit, maxNativeWei, foreseen, sponsored: null },
      ...{ screenedAgainst, token },
    }
  }
  const paidFor = sponsored.get(txId)
  const draft = paidFor?.draft ?? null
  if (paidFor === undefined || draft === null || paidFor.phase !== 'screening') return null
  const { asks, terms, router, delegate, offered, parties, fingerprint } = draft
  if (asks === undefined || !terms.ok) return null
  const { screenedAgainst, token } = paidFor
  return {
    ...{ draft, asks, call: callOf(draft).call, gasLimit: 0n, maxNativeWei: 0n },
    foreseen: { simulated: false, gasUsed: null, maxFeeWei: 0n },
    sponsored: { router, delegate, terms: terms.value, offered, parties, fingerprint },
    ...{ screenedAgainst, token },
  }
}

/** Stores a screened call with its reservation; from now on it waits. */
export function approvalReady(turn: Turn, command: Of<'approval-ready'>): void {
  const { txId, keyProof, url, userWaiting, nowMs } = command
  const { state } = turn
  const ready = readyOf(state, txId)
  if (ready === null) return
  const { draft, asks, sponsored, screenedAgainst, token, call } = ready
  const stopped =
    // The key may have ended while the call was screened.
    (hasKeyEnded(state, draft.keyId, nowMs) ? fault('INVALID_KEY') : null) ??
    turn.freezeFault(draft.lineageId) ??
    userFault(userWaiting) ??
    waitingFault(state, call.data)
  turn.emit({ type: sponsored === null ? 'released' : 'sponsored-released', txId })
  if (stopped !== null) {
    turn.refuseSend(token, stopped, 'terms' in draft ? callOf(draft) : draft, screenedAgainst)
    return
  }
  const { rule, needed, delaySeconds, expiresSeconds } = asks
  const approvalId = approvalIdOf(txId)
  const expiresAtMs = nowMs + (delaySeconds + expiresSeconds) * SECOND_MS
  const runsAtMs = delaySeconds === 0 ? null : nowMs + delaySeconds * SECOND_MS
  const tx: Transaction = {
    ...waitingRecord(state, { ...draft, call, gasLimit: ready.gasLimit }, nowMs),
    approval: { approvalId, url, rule, needed, expiresAtMs, runsAtMs },
  }
  const { subWalletId, userId, keyId, lineageId } = tx
  const { counted, valuation, idempotency } = draft
  const { foreseen, maxNativeWei } = ready
  const approval: Approval = {
    ...{ approvalId, txId, subWalletId, userId, keyId, lineageId, status: 'pending' },
    ...{ rule, needed, delaySeconds, url, decisions: [], keyProof, maxNativeWei },
    valueMicros: valuation.valueMicros,
    ...{ requestedAtMs: nowMs, expiresAtMs, toldAtMs: null },
    counted: counted ?? null,
    ...{ foreseen, screenedAgainst, sponsored, askedAgain: null, decidedAtMs: null },
    boundNonce: null,
  }
  const executes = 'executes' in draft ? draft.executes : undefined
  turn.emit({ type: 'approval-requested', tx, approval, idempotency, executes })
  turn.answer(token, new Sent(tx, false))
  // Only this call changed; the wallet may have thousands of waiting calls.
  tell(turn, waitingOf(state, txId))
  wakeAt(turn, Math.min(expiresAtMs, keyEndsAtMs(state, keyId)))
}

/**
 * Applies a decision that a person made through the identity provider, or a decline with a console
 * token.
 */
export function decideApproval(
  turn: Turn,
  { txId, decision: given, maxNativeWei, requestId, nowMs }: DecideApproval,
  token: ReplyToken | null,
): void {
  const { holdersNow, ...decision } = given
  const call = turn.state.waiting.byTx.get(txId)
  if (call === undefined || nowMs >= call.approval.expiresAtMs) {
    turn.refuse(token, fault('INVALID_REQUEST', { tx_id: txId }, OVER))
    if (call !== undefined) turn.touchWaiting(nowMs)
    return
  }
  const { approval } = call
  if (decision.decision === 'decline') {
    if (!isStoppable(turn, call)) {
      turn.refuse(token, fault('INVALID_REQUEST', { tx_id: txId }, BEING_SIGNED))
      return
    }
    const declined: Approval = { ...approval, decisions: [...approval.decisions, decision] }
    turn.emit({ type: 'approval-decided', approval: declined, decision, requestId })
    turn.answer(token, endWaiting(turn, txId, 'declined', nowMs, requestId, declinedBy(decision)))
    turn.touchWaiting(nowMs)
    return
  }
  // The decision is for an earlier term and is void. The identity provider may know a newer term
  // whose registration it has not answered yet; decisions on the newer term count.
  if (maxNativeWei !== approval.maxNativeWei) {
    turn.refuse(token, fault('INVALID_REQUEST', { tx_id: txId }, TERMS_CHANGED))
    return
  }
  // A person who left the account and came back has to approve again.
  const counting = approval.decisions.filter(
    ({ authorizerId, personIds }) =>
      authorizerId !== decision.authorizerId || personIds?.length !== 0,
  )
  const hasApproved = approversOf({ decisions: counting }).has(decision.authorizerId ?? '')
  if (hasApproved || isApproved(approval)) {
    turn.answer(token, approval)
    return
  }
  const earlier = heldNow(counting, holdersNow ?? NOBODY_ELSE)
  const decided: Approval = { ...approval, decisions: [...earlier, decision] }
  turn.emit({ type: 'approval-decided', approval: decided, decision, requestId })
  if (isApproved(decided)) approve(turn, decided, nowMs)
  turn.answer(token, waitingOf(turn.state, txId).approval)
  turn.touchWaiting(nowMs)
}

/** Withdraws the call at the request of the agent that made it. */
export function withdrawCall(
  turn: Turn,
  { txId, keyId, requestId, nowMs }: WithdrawCall,
  token: ReplyToken | null,
): void {
  const { state } = turn
  const call = state.waiting.byTx.get(txId)
  const key = state.keys.get(keyId)
  if (call === undefined || key === undefined || key.lineageId !== call.tx.lineageId) {
    turn.refuse(token, fault('NOT_FOUND', { tx_id: txId }))
    return
  }
  if (!isStoppable(turn, call)) {
    turn.refuse(token, fault('INVALID_REQUEST', { tx_id: txId }, BEING_SIGNED))
    return
  }
  endWaiting(turn, txId, 'withdrawn', nowMs, requestId, WITHDRAWN)
  turn.answer(token, lastEnded(turn))
  turn.touchWaiting(nowMs)
}

/** Registers the call with the identity provider, which is notified of one call at a time. */
export function tell(turn: Turn, { tx, approval }: WaitingCall): void {
  const { waiting, wallet } = turn.state
  if (waiting.registering !== null || waiting.resting || wallet === null) return
  turn.emit({ type: 'approval-registering', txId: tx.txId })
  turn.effect({ type: 'register-approval', tx, approval, wallet, failures: waiting.failures })
}

export function wakeAt(turn: Turn, atMs: number): void {
  const { wakesAtMs } = turn.state.waiting
  if (wakesAtMs.some((known) => known <= atMs)) return
  turn.emit({ type: 'approvals-wake', wakesAtMs: [...wakesAtMs, atMs] })
  turn.effect({ type: 'wake-approvals', atMs })
}

/** Marks the call as approved: enough people approved it, or its delay has passed. */
export function approve(turn: Turn, approval: Approval, nowMs: number): void {
  const approved: Approval = { ...approval, status: 'approved', decidedAtMs: nowMs }
  turn.emit({ type: 'approval-approved', approval: approved, atMs: nowMs })
}

/** @returns the approval in its final form */
export function endWaiting(
  turn: Turn,
  txId: TxId,
  status: UnapprovedEnd | 'dropped',
  nowMs: number,
  requestId: string | null,
  error: Transaction['error'],
): Approval {
  const { state } = turn
  if (state.drafts.has(txId)) turn.emit({ type: 'released', txId })
  if (state.sponsored.has(txId)) turn.emit({ type: 'sponsored-released', txId })
  const { tx: before, approval: asked } = waitingOf(state, txId)
  const tx: Transaction = { ...before, status, error, spentMicros: 0n, updatedAtMs: nowMs }
  // A call that is dropped before it was approved has no approval to keep.
  const isLetThrough = status === 'dropped' && asked.status === 'approved'
  const ended = status === 'dropped' ? 'expired' : status
  const approval: Approval = isLetThrough
    ? { ...asked, decidedAtMs: asked.decidedAtMs ?? nowMs }
    : { ...asked, status: ended, decidedAtMs: nowMs }
  turn.emit({ type: 'approval-ended', tx, approval, requestId, atMs: nowMs })
  // The identity provider may know the call without having answered, or know an earlier term. When
  // it knows neither, it ignores this.
  turn.effect({ type: 'forget-approval', approvalId: approval.approvalId, status: approval.status })
  return approval
}

/** False once the quorum was called: its signature cannot be recalled. */
export function isStoppable({ state }: Turn, { phase, tx }: WaitingCall): boolean {
  if (phase !== 'running') return true
  const at = state.drafts.get(tx.txId)?.phase ?? state.sponsored.get(tx.txId)?.phase
  return at === undefined || at === 'screening' || at === 'queued' || at === 'waiting'
}

function lastEnded({ events }: Turn): Transaction {
  for (const event of [...events].reverse()) if (event.type === 'approval-ended') return event.tx
  throw new Error('nothing ended')
}

function declinedBy({ comment }: ApprovalDecision): Transaction['error'] {
  return { code: 'DECLINED', message: comment ?? 'The owner declined the call.' }
}

const WITHDRAWN = { code: 'WITHDRAWN', message: 'The call was withdrawn before it was approved.' }
const OVER = 'The call no longer waits for approval; its record shows the outcome.'
const BEING_SIGNED = 'The call is already being signed and cannot be stopped.'
const TERMS_CHANGED = 'The terms of this call have changed; review it again.'
