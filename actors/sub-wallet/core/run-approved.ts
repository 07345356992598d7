import { isLive } from '../../../src/domain/api-key.js'
import {
  type Approval,
  type ApprovalToSign,
  approvalIdOf,
  isApproved,
  peopleWhoApproved,
  type WaitingSponsorship,
} from '../../../src/domain/approval.js'
import { gasWalletsFor } from '../../../src/domain/gas-wallets.js'
import type { Hex, TxId } from '../../../src/domain/ids.js'
import type { UsdMicros } from '../../../src/domain/money.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import { CATALOGUE } from '../../../src/errors/catalogue.js'
import type { Fault } from '../../../src/errors/fault.js'
import { isUnapproved } from '../../../src/errors/unapproved.js'
import { APPROVAL_SECONDS_MAX, DELAY_SECONDS_MAX } from '../../../src/policy/bounds.js'
import { pumpSigning } from '../../account/core/signing.js'
import type { ApprovalCommand } from './approval-messages.js'
import type { CallAtGates } from './call-at-gates.js'
import { approve, endWaiting, isStoppable, tell, wakeAt } from './decide-approvals.js'
import { callsAheadOf } from './kept-nonces.js'
import { hasKeyEnded, keyEndsAtMs } from './key-tree.js'
import { earliestOnPath } from './path-spend.js'
import type { SponsoredDraft } from './sponsored-state.js'
import type { Draft } from './state.js'
import type { Turn } from './turn.js'
import { waitingOf } from './waiting-calls.js'
import type { WaitingCall } from './waiting-state.js'

type Of<T extends ApprovalCommand['type']> = Extract<ApprovalCommand, { type: T }>

/**
 * Runs a waiting call from the moment at which it is approved: it is judged again as a draft, by
 * the gates that depend on the quote, and signed. A refusal ends it, unless its cause may pass.
 */

/**
 * A call whose value has changed by more than this since people were asked goes back to them. Gas
 * is not included: people bound it separately.
 */
const PRICE_TOLERANCE_BPS = 500n
const BPS = 10_000n
/**
 * The most calls that are judged again at once: the delays of a thousand calls may end within one
 * second.
 */
const RUNNING_MAX = 32
/** Added to a delay, because the identity provider measures it with its own clock. */
const DELAY_MARGIN_MS = 1_000
const SECOND_MS = 1_000
/** The backoff after an attempt that got no answer. */
const REST_MS_MIN = 500
const REST_MS_MAX = 60_000
/** The backoff of registering calls with the identity provider. */
const REGISTER_REST_MS_MIN = 250
const REGISTER_REST_MS_MAX = 5_000

/**
 * Advances waiting calls. Call it after the command's other events when the command concerns
 * waiting calls.
 */
export function advanceWaiting(turn: Turn, nowMs: number): void {
  do {
    settleRuns(turn, nowMs)
    runDue(turn, nowMs)
    pumpQueues(turn)
  } while (turn.hasRefusedRuns)
  registerNext(turn)
  askToWake(turn)
}

export function approvalsDue(turn: Turn, { atMs, nowMs }: Of<'approvals-due'>): void {
  const { wakesAtMs } = turn.state.waiting
  // The timer belongs to an earlier load of the actor; this load has set its own.
  if (!wakesAtMs.includes(atMs)) return
  turn.emit({ type: 'approvals-wake', wakesAtMs: wakesAtMs.filter((other) => other !== atMs) })
  turn.touchWaiting(nowMs)
}

export function approvalRegistered(turn: Turn, command: Of<'approval-registered'>): void {
  const { txId, maxNativeWei, taken, refusal, nowMs } = command
  const { waiting } = turn.state
  turn.emit({ type: 'approval-registering', txId: null })
  const call = waiting.byTx.get(txId)
  if (call === undefined) {
    // The call ended in the meantime, and the identity provider may have been told to forget it
    // before it knew it.
    turn.effect({ type: 'forget-approval', approvalId: approvalIdOf(txId), status: 'approved' })
  }
  // When the call was put to people again in the meantime, the new term is registered too.
  const isOfThisTerm = call !== undefined && call.approval.maxNativeWei === maxNativeWei
  if (isOfThisTerm && refusal !== undefined && hasEnded(turn, call)) {
    // The identity provider does not keep this call and so will not sign it: the key ended before
    // the call reached it.
    const { code, message } = refusal
    endWaiting(turn, txId, 'dropped', nowMs, null, { code, message })
  } else if (taken) {
    turn.emit({ type: 'approvals-resting', on: waiting.resting, failures: 0 })
    if (isOfThisTerm) {
      const approval: Approval = { ...call.approval, toldAtMs: nowMs }
      turn.emit({ type: 'approval-registered', approval })
    }
  } else if (!waiting.resting) {
    if (call !== undefined) turn.emit({ type: 'approval-unregistered', txId })
    const failures = waiting.failures + 1
    turn.emit({ type: 'approvals-resting', on: true, failures })
    const delayMs = Math.min(
      REGISTER_REST_MS_MIN * 2 ** Math.min(failures - 1, 10),
      REGISTER_REST_MS_MAX,
    )
    turn.effect({ type: 'rest-approvals', delayMs })
  }
  turn.touchWaiting(nowMs)
}

/**
 * Uses the knowledge of this domain: the identity provider may not know a live key yet, for example
 * after a restore.
 */
function hasEnded({ state }: Turn, { tx }: WaitingCall): boolean {
  const key = state.keys.get(tx.keyId)
  return key === undefined || !isLive(key)
}

export function approvalsRested(turn: Turn): void {
  const { waiting } = turn.state
  turn.emit({ type: 'approvals-resting', on: false, failures: waiting.failures })
  registerNext(turn)
}

type AskedAgain = Exclude<Approval['askedAgain'], null>

/**
 * Returns why people have to be asked again about a call that was valued again, or null when their
 * approval covers it.
 */
export function askedAgainFor(
  { approval }: WaitingCall,
  { admitted, asks }: CallAtGates,
): AskedAgain | null {
  if (asks !== undefined) {
    if (asks.needed > peopleWhoApproved(approval)) return 'policy'
    if (asks.delaySeconds > approval.delaySeconds) return 'policy'
  }
  return hasMoved(approval.valueMicros, admitted?.valuation.valueMicros ?? 0n) ? 'price' : null
}

/** Whether the value moved by more than the tolerance. */
export function hasMoved(before: bigint, now: bigint): boolean {
  const moved = now > before ? now - before : before - now
  return moved * BPS > before * PRICE_TOLERANCE_BPS
}

/** The new terms that people are asked to approve. */
export interface NewTerm {
  readonly why: AskedAgain
  readonly asks: CallAtGates['asks']
  readonly maxNativeWei: bigint
  readonly valueMicros: UsdMicros
  readonly counted: Approval['counted']
  /** Null for a send. */
  readonly sponsored: WaitingSponsorship | null
}

/** Puts the call to people again: its draft is gone, and it waits at its present cost. */
export function askAgain(turn: Turn, txId: TxId, again: NewTerm, nowMs: number): void {
  const { why, asks, valueMicros, counted, sponsored } = again
  const { tx, approval: before } = waitingOf(turn.state, txId)
  const needed = Math.max(before.needed, asks?.needed ?? 0)
  const times = newTimes(before, asks, nowMs)
  const { delaySeconds, expiresAtMs } = times
  const isLonger = delaySeconds > before.delaySeconds
  const asked =
    tx.approval === undefined
      ? undefined
      : {
          ...{ ...tx.approval, needed, expiresAtMs },
          ...(isLonger ? { runsAtMs: nowMs + delaySeconds * SECOND_MS } : {}),
        }
  const data = sponsored === null ? tx.call.data : sponsored.terms.data
  const approval: Approval = {
    ...before,
    ...{ status: 'pending', decisions: [], needed, toldAtMs: null, askedAgain: why, ...times },
    // The term differs from every earlier one, so that no signature over those is valid.
    maxNativeWei:
      again.maxNativeWei > before.maxNativeWei ? again.maxNativeWei : before.maxNativeWei + 1n,
    ...{ valueMicros, counted, sponsored, decidedAtMs: null },
  }
  turn.emit({
    type: 'approval-asked-again',
    tx: {
      ...{ ...tx, call: { ...tx.call, data }, updatedAtMs: nowMs },
      ...(asked === undefined ? {} : { approval: asked }),
    },
    ...{ approval, atMs: nowMs },
  })
  turn.touchWaiting(nowMs)
}

/** Extends the expiry for a longer delay, within what the identity provider keeps. */
function newTimes(
  { delaySeconds: before, expiresAtMs, requestedAtMs }: Approval,
  asks: CallAtGates['asks'],
  nowMs: number,
): Pick<Approval, 'delaySeconds' | 'expiresAtMs'> {
  if (asks === undefined || asks.delaySeconds <= before) {
    return { delaySeconds: before, expiresAtMs }
  }
  const { delaySeconds, expiresSeconds } = asks
  const wantedMs = nowMs + (delaySeconds + expiresSeconds) * SECOND_MS
  const longestMs = requestedAtMs + (DELAY_SECONDS_MAX + APPROVAL_SECONDS_MAX) * SECOND_MS
  return { delaySeconds, expiresAtMs: Math.max(expiresAtMs, Math.min(wantedMs, longestMs)) }
}

/** Decides what happens to calls that were being judged again and are no longer drafts. */
function settleRuns(turn: Turn, nowMs: number): void {
  for (const [txId, why] of turn.takeRefusedRuns() ?? []) {
    const call = turn.state.waiting.byTx.get(txId)
    if (call === undefined || call.phase !== 'running') continue
    if (turn.state.drafts.has(txId) || turn.state.sponsored.has(txId)) continue
    if (isUnapproved(why)) {
      askOthers(turn, call, nowMs)
    } else if (isWorthAnother(why)) {
      const delayMs = Math.min(REST_MS_MIN * 2 ** Math.min(call.rests, 10), REST_MS_MAX)
      turn.emit({ type: 'approval-rested', txId, untilMs: nowMs + delayMs })
    } else {
      endWaiting(turn, txId, 'dropped', nowMs, null, { code: why.code, message: why.message })
    }
  }
}

/**
 * The identity provider no longer counts some of the approvers, for example because they left the
 * account. A call that only waited for its delay has no approvers to ask.
 */
function askOthers(turn: Turn, { tx, approval }: WaitingCall, nowMs: number): void {
  const { txId, valuation } = tx
  if (approval.needed === 0) {
    endWaiting(turn, txId, 'dropped', nowMs, null, UNAPPROVED)
    return
  }
  const { maxNativeWei, counted, sponsored } = approval
  const { valueMicros } = valuation
  const again = { why: 'people', asks: undefined, maxNativeWei, valueMicros } as const
  askAgain(turn, txId, { ...again, counted, sponsored }, nowMs)
}

/** Lets the lanes continue when a kept nonce is released, because other calls may wait for it. */
function pumpQueues(turn: Turn): void {
  for (const lane of turn.state.lanes.values()) {
    if (lane.queued.length > 0) pumpSigning(turn, lane)
  }
}

function isWorthAnother({ code }: Fault): boolean {
  return CATALOGUE[code].retryable || code === 'PRICE_UNAVAILABLE'
}

function runDue(turn: Turn, nowMs: number): void {
  const { byTx } = turn.state.waiting
  let running = runningOf(turn)
  for (const call of [...byTx.values()]) {
    const { phase, approval, tx } = call
    // A call that can only be refused must neither be shown to people nor hold anything.
    if (hasKeyEnded(turn.state, tx.keyId, nowMs) && isStoppable(turn, call)) {
      if (phase === 'running') running--
      endWaiting(turn, tx.txId, 'dropped', nowMs, null, KEY_ENDED)
      continue
    }
    if (phase === 'running') continue
    if (nowMs >= approval.expiresAtMs) {
      const why = isApproved(approval) ? NOT_SIGNED : NOT_APPROVED
      endWaiting(turn, tx.txId, 'expired', nowMs, null, why)
    } else if (running < RUNNING_MAX && nowMs >= runsAtMs(turn, call)) {
      running++
      run(turn, call, nowMs)
    }
  }
}

function runningOf({ state }: Turn): number {
  let running = 0
  for (const { phase } of state.waiting.byTx.values()) if (phase === 'running') running++
  return running
}

function run(turn: Turn, { approval, tx }: WaitingCall, nowMs: number): void {
  const { txId } = tx
  if (approval.status === 'pending') approve(turn, approval, nowMs)
  turn.emit({ type: 'approval-running', txId })
  const newest = waitingOf(turn.state, txId).approval
  if (newest.sponsored === null) runSend(turn, tx, newest, nowMs)
  else runSponsored(turn, tx, newest, newest.sponsored, nowMs)
}

function runSend(turn: Turn, tx: Transaction, approval: Approval, nowMs: number): void {
  const { txId } = tx
  const draft: Draft = {
    ...{ txId, requestId: tx.requestId, keyId: tx.keyId, lineageId: tx.lineageId },
    ...{ kind: tx.kind, call: tx.call, gasLimit: tx.gasLimit, maxFeePerGas: 0n },
    ...{ maxPriorityFeePerGas: 0n, valuation: tx.valuation, reservation: tx.reservation },
    ...{ paid: null, problem: null, basis: null, requotes: 0, proofKey: null },
    ...{ idempotency: null, token: null, createdAtMs: nowMs, signs: 'first-time' },
    counted: approval.counted ?? undefined,
    approval: toSign(approval),
  }
  turn.emit({ type: 'reserved', draft })
  const unmined = callsAheadOf(turn.state, draft)
  turn.effect({ type: 'screen', userId: tx.userId, draft, unmined, revalues: true })
}

/** Makes the call a sponsored draft again; see sponsored-approved.ts. */
function runSponsored(
  turn: Turn,
  tx: Transaction,
  approval: Approval,
  { router, delegate, terms, offered, parties, fingerprint }: WaitingSponsorship,
  nowMs: number,
): void {
  const { txId, requestId, keyId, lineageId, kind, valuation, reservation, from: account } = tx
  const { chainId } = tx.call
  const [gasWalletId] = gasWalletsFor(chainId, tx.subWalletId)
  if (kind === 'send' || gasWalletId === undefined) throw new Error(`${txId} is not sponsored`)
  const draft: SponsoredDraft = {
    ...{ txId, requestId, keyId, lineageId, chainId, kind, account, router, delegate },
    ...{ terms: { ok: true, value: terms }, offered, parties, gasWalletId },
    ...{ valuation, reservation, gasMicros: 0n, proofKey: null, idempotency: null },
    ...{ fingerprint, createdAtMs: nowMs, approval: toSign(approval) },
    ...(approval.counted === null ? {} : { counted: approval.counted }),
  }
  turn.emit({ type: 'sponsored-reserved', draft, needsDelegation: true, token: null })
  turn.effect({ type: 'screen-sponsored', draft })
}

function toSign(approval: Approval): ApprovalToSign {
  const { approvalId, expiresAtMs, maxNativeWei } = approval
  return { approvalId, expiresAtMs, maxNativeWei, proofs: proofsOf(approval) }
}

function proofsOf({ decisions }: Approval): readonly Hex[] {
  return decisions.flatMap(({ proof }) => (proof === null ? [] : [proof]))
}

/**
 * The time at which it may be judged again, as far as is known now. It runs without a caller, and
 * so also at a start whose clock is not verified against a chain: a clock far behind would reopen
 * earlier windows of its caps with nothing spent in them.
 */
function runsAtMs({ state }: Turn, { tx, approval, restUntilMs }: WaitingCall): number {
  const { toldAtMs, delaySeconds } = approval
  if (toldAtMs === null || !isApproved(approval)) return Number.POSITIVE_INFINITY
  const delayedMs = delaySeconds === 0 ? 0 : toldAtMs + delaySeconds * SECOND_MS + DELAY_MARGIN_MS
  return Math.max(delayedMs, restUntilMs, earliestOnPath(state, tx.lineageId))
}

function registerNext(turn: Turn): void {
  const { waiting } = turn.state
  if (waiting.registering !== null || waiting.resting) return
  let next: WaitingCall | null = null
  for (const call of waiting.byTx.values()) {
    if (call.approval.toldAtMs === null && (next === null || call.timesFailed < next.timesFailed))
      next = call
  }
  if (next !== null) tell(turn, next)
}

function askToWake(turn: Turn): void {
  const { waiting } = turn.state
  let atMs = Number.POSITIVE_INFINITY
  // With the maximum running, a due call starts only when another ends.
  const isFull = runningOf(turn) >= RUNNING_MAX
  for (const call of waiting.byTx.values()) {
    if (call.phase === 'running') continue
    const endsAtMs = keyEndsAtMs(turn.state, call.tx.keyId)
    const dueAtMs = isFull ? Number.POSITIVE_INFINITY : runsAtMs(turn, call)
    atMs = Math.min(atMs, call.approval.expiresAtMs, endsAtMs, dueAtMs)
  }
  if (atMs !== Number.POSITIVE_INFINITY) wakeAt(turn, atMs)
}

const NOT_APPROVED = { code: 'EXPIRED', message: 'Too few people approved the call in time.' }
const UNAPPROVED = {
  code: 'PERMISSION_DENIED',
  message: 'The identity provider requires approvals, and there is nobody left to ask.',
}
const KEY_ENDED = {
  code: 'INVALID_KEY',
  message: 'The API key that made the call has ended, or a key above it has.',
}
const NOT_SIGNED = {
  code: 'EXPIRED',
  message: 'The call was approved but could not be signed in time.',
}
