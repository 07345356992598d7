import type { TxId } from '../../../src/domain/ids.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import { dropTransaction, pumpFlight } from './flight.js'
import { openGap } from './lane-nonces.js'
import type { AccountCommand } from './messages.js'
import { type AccountDraft, type DraftEntry, laneOf, type NonceLane, SIGNING_MAX } from './state.js'
import { type AccountTurn, queuedDraft } from './turn.js'

/** Takes drafts from the queue to stored bytes. */

type Of<T extends AccountCommand['type']> = Extract<AccountCommand, { type: T }>

/** Hands nonces to waiting drafts, the lowest free nonce first. */
export function pumpSigning(turn: AccountTurn, lane: NonceLane): void {
  if (lane.sequence === 'draining' || lane.nextNonce === null) return
  for (;;) {
    if (lane.signing.length >= SIGNING_MAX) return
    const next = nextInQueue(turn, lane)
    if (next === null) return
    const { draft, gap } = next
    if (gap === undefined && lane.signing.length > 0 && turn.signsAlone(draft)) return
    const stopped = turn.whatStops(draft)
    if (stopped !== null) {
      refuseQueued(turn, draft.txId, stopped)
      continue
    }
    if (turn.takesBack(draft, lane)) continue
    const nonce = gap ?? lane.nextNonce + lane.signing.length
    turn.emit({ type: 'nonce-assigned', txId: draft.txId, nonce, replaces: null })
    turn.askToSign(draft, nonce, null)
  }
}

/** The next draft to be signed, and the gap that it fills; null when no draft may be signed. */
function nextInQueue(
  turn: AccountTurn,
  lane: NonceLane,
): { readonly draft: AccountDraft; readonly gap: number | undefined } | null {
  const gap = openGap(lane)
  const [first] = lane.queued
  if (first === undefined || lane.nextNonce === null) return null
  const kept = turn.keptFor(lane.chainId, lane.nextNonce + lane.signing.length)
  if (kept !== null && lane.signing.length === 0 && lane.queued.includes(kept)) {
    return { draft: queuedDraft(turn.state, kept), gap: undefined }
  }
  const draft = queuedDraft(turn.state, first)
  const nextIsTaken = kept !== null || turn.isNextNonceTaken(lane.chainId)
  if (gap === undefined) return nextIsTaken ? null : { draft, gap }
  if (turn.mayFill(draft, gap)) return { draft, gap }
  if (!nextIsTaken) return { draft, gap: undefined }
  for (const txId of lane.queued) {
    const other = queuedDraft(turn.state, txId)
    if (turn.mayFill(other, gap)) return { draft: other, gap }
  }
  return null
}

export function signatureArrived(turn: AccountTurn, command: Of<'signed'>): void {
  const entry = turn.state.drafts.get(command.txId)
  if (entry === undefined || entry.phase !== 'signing' || entry.nonce !== command.nonce) return
  turn.emit({ type: 'signature-held', txId: command.txId, signed: command.signed })
  const lane = laneOf(turn.state, entry.draft.call.chainId)
  if (lane.filling.includes(command.txId)) store(turn, entry, command.nowMs)
  advanceLane(turn, lane, command.nowMs)
}

/**
 * The identity provider holds another approval at this nonce, which led to no transaction; the next
 * request names it as replaced.
 */
export function nonceTaken(turn: AccountTurn, command: Of<'nonce-taken'>): void {
  const { txId, nonce, takenBy } = command
  const entry = turn.state.drafts.get(txId)
  if (entry === undefined || entry.phase !== 'signing' || entry.nonce !== nonce) return
  if (entry.replaces === takenBy) {
    signatureFailed(turn, {
      type: 'sign-failed',
      txId,
      nonce,
      fault: fault('COSIGNER_UNAVAILABLE', {}, undefined, 'nonce stays taken at the ledger'),
      nowMs: command.nowMs,
    })
    return
  }
  turn.emit({ type: 'nonce-assigned', txId, nonce, replaces: takenBy })
  turn.askToSign(entry.draft, nonce, takenBy)
}

export function signatureFailed(turn: AccountTurn, command: Of<'sign-failed'>): void {
  const { txId } = command
  const entry = turn.state.drafts.get(txId)
  if (entry === undefined || entry.phase !== 'signing' || entry.nonce !== command.nonce) return
  const lane = laneOf(turn.state, entry.draft.call.chainId)
  const filling = lane.filling.includes(txId)
  turn.emit({ type: 'signature-failed', txId, fault: command.fault })
  if (filling) releaseFailed(turn, entry)
  advanceLane(turn, lane, command.nowMs)
}

/**
 * Stores the unbroken run of signed drafts at the head of the lane. When a signature failed and all
 * others were answered, the drafts above it move down and are signed again: they were not stored,
 * so they cannot have been sent.
 */
function advanceLane(turn: AccountTurn, lane: NonceLane, nowMs: number): void {
  const { drafts } = turn.state
  for (;;) {
    const first = lane.signing[0]
    const entry = first === undefined ? undefined : drafts.get(first)
    if (entry === undefined || entry.phase !== 'held') break
    store(turn, entry, nowMs)
  }
  if (lane.sequence === 'draining') {
    const entries = lane.signing.map((txId) => drafts.get(txId))
    if (entries.some((entry) => entry?.phase === 'signing')) return
    for (const entry of entries) if (entry?.phase === 'failed') releaseFailed(turn, entry)
    turn.emit({ type: 'lane-resequenced', chainId: lane.chainId })
  }
  pumpFlight(turn, lane)
  pumpSigning(turn, lane)
}

/**
 * Stops a new signature for a transaction that lost its nonce and was mined anyway. The nonce of
 * the signature under way goes to the drafts above it, as if it had not been given.
 */
export function stopSigningAgain(turn: AccountTurn, txId: TxId, nowMs: number): void {
  const entry = turn.state.drafts.get(txId)
  if (entry === undefined) return
  const lane = laneOf(turn.state, entry.draft.call.chainId)
  const inSequence = lane.signing.includes(txId)
  if (entry.phase === 'signing' || entry.phase === 'held') {
    turn.emit({ type: 'signature-failed', txId, fault: fault('CHAIN_REJECTED') })
  }
  if (inSequence) advanceLane(turn, lane, nowMs)
  else turn.emit({ type: 'released', txId })
}

function refuseQueued(turn: AccountTurn, txId: TxId, why: Fault): void {
  const entry = turn.state.drafts.get(txId)
  if (entry === undefined) throw new Error(`${txId} is queued but is not a draft`)
  releaseFailed(turn, { ...entry, fault: why })
}

function releaseFailed(
  turn: AccountTurn,
  { draft, screenedAgainst, fault: why }: DraftEntry,
): void {
  const { txId, token } = draft
  const refusal = why ?? fault('COSIGNER_UNAVAILABLE')
  turn.emit({ type: 'released', txId })
  if (draft.signs === 'lost-nonce') {
    // The first bytes were mined in the meantime, so nothing is refused.
    if (turn.state.open.get(txId)?.flight !== 'nonce-lost') return
    dropTransaction(turn, txId, refusal, 'nonce-spent')
  }
  turn.refuseCall(token, refusal, draft, screenedAgainst)
}

/**
 * Stores signed bytes in nonce order, so that a crash always leaves an unbroken run of nonces: only
 * the chain can make a gap in a lane.
 */
function store(turn: AccountTurn, entry: DraftEntry, nowMs: number): void {
  const { draft, nonce, signed } = entry
  if (signed === null) throw new Error(`${draft.txId} was stored unsigned`)
  if (draft.signs === 'first-time') {
    turn.effect({ type: 'watch', tx: turn.onSigned(entry, nowMs) })
    return
  }
  const { txId, maxFeePerGas, maxPriorityFeePerGas } = draft
  const fees = { maxFeePerGas, maxPriorityFeePerGas }
  turn.emit({ type: 'transaction-renonced', txId, nonce, fees, signed })
  const open = turn.state.open.get(txId)
  if (open !== undefined) turn.effect({ type: 'watch', tx: open.tx })
}
