import type { CreditUse } from '../../../src/domain/allowance.js'
import type { TxId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import { allowancesOf } from './allowance-ledger.js'
import { undoCredits, useCredits, usesToStore } from './credits.js'
import { admitAgain } from './decide-send.js'
import { limitsCrossed } from './limit-crossings.js'
import type { Command } from './messages.js'
import { Sent } from './sent.js'
import {
  type Draft,
  type DraftEntry,
  type Lane,
  laneOf,
  type OpenEntry,
  SIGNING_MAX,
  type SubWalletState,
} from './state.js'
import type { Turn } from './turn.js'
import { isPlain, isValuedAfter, mayFill, unminedCalls } from './unmined-calls.js'

type Of<T extends Command['type']> = Extract<Command, { type: T }>

/**
 * Steps 3 to 5 of the lifecycle. Signed bytes are stored in nonce order, so what a crash leaves
 * is always an unbroken run of nonces: a lane never has a hole that was not made by the chain.
 */
export function screened(turn: Turn, command: Of<'screened'>): void {
  const { txId, refusal, screenedAgainst } = command
  const entry = turn.state.drafts.get(txId)
  if (entry === undefined || entry.phase !== 'screening') return
  const { draft } = entry
  const lane = laneOf(turn.state, draft.chainId)
  const wasFirst = lane.line[0] === txId
  const no = refusal ?? (command.requoted === null ? draft.problem : null)
  if (no !== null) {
    turn.emit({ type: 'released', txId })
    turn.refuseSend(draft.token, no, draft, screenedAgainst)
  } else if (command.requoted !== null) {
    admitAgain(turn, draft, command.requoted, command.nowMs)
    if (wasFirst && turn.state.drafts.has(txId)) turn.emit({ type: 'lined-up', txId, first: true })
  } else if (!wasFirst && lane.line.length > 0 && !isPlain(draft)) {
    // Those that wait are to be mined first, and nothing can be valued after them yet.
    turn.emit({ type: 'lined-up', txId, first: false })
  } else {
    turn.emit({ type: 'queued', txId, screenedAgainst })
    pumpSigning(turn, lane)
  }
  if (wasFirst && lane.line[0] !== txId) revalueFirst(turn, lane)
}

/** Hands nonces to waiting drafts, lowest free nonce first. */
export function pumpSigning(turn: Turn, lane: Lane): void {
  if (lane.sequence === 'draining' || lane.nextNonce === null) return
  for (;;) {
    if (lane.signing.length >= SIGNING_MAX) return
    const next = nextInQueue(turn.state, lane)
    if (next === null) return
    const { draft, gap } = next
    const { txId } = draft
    if (!isValuedAfter(turn.state, lane, draft)) {
      turn.emit({ type: 'lined-up', txId, first: false })
      if (lane.line[0] === txId) revalueFirst(turn, lane)
      continue
    }
    const nonce = gap ?? lane.nextNonce + lane.signing.length
    turn.emit({ type: 'nonce-assigned', txId, nonce, replaces: null })
    turn.effect({ type: 'sign', draft, nonce, replaces: null })
  }
}

/** The next draft to be signed, and the gap that it fills; null when none may be. */
function nextInQueue(
  state: SubWalletState,
  lane: Lane,
): { readonly draft: Draft; readonly gap: number | undefined } | null {
  const gap = lane.gaps[0]
  const [first] = lane.queued
  if (first === undefined) return null
  const draft = queuedDraft(state, first)
  // The next nonce is an authorization's, once the gaps below it are closed.
  const nextIsTaken = state.delegations.has(lane.chainId)
  if (gap === undefined) return nextIsTaken ? null : { draft, gap }
  if (mayFill(state, draft, gap)) return { draft, gap }
  if (!nextIsTaken) return { draft, gap: undefined }
  for (const txId of lane.queued) {
    const other = queuedDraft(state, txId)
    if (mayFill(state, other, gap)) return { draft: other, gap }
  }
  return null
}

export function queuedDraft(state: SubWalletState, txId: TxId): Draft {
  const draft = state.drafts.get(txId)?.draft
  if (draft === undefined) throw new Error(`${txId} is queued but is no draft`)
  return draft
}

function revalueFirst(turn: Turn, { chainId, line }: Lane): void {
  const { state } = turn
  const [txId] = line
  const draft = txId === undefined ? undefined : state.drafts.get(txId)?.draft
  if (draft === undefined || state.wallet === null) return
  const { userId } = state.wallet
  const unmined = unminedCalls(state, chainId)
  turn.effect({ type: 'screen', userId, draft, unmined, revalues: true })
}

export function signatureArrived(turn: Turn, command: Of<'signed'>): void {
  const entry = turn.state.drafts.get(command.txId)
  if (entry === undefined || entry.phase !== 'signing' || entry.nonce !== command.nonce) return
  turn.emit({ type: 'signature-held', txId: command.txId, signed: command.signed })
  const lane = laneOf(turn.state, entry.draft.chainId)
  if (lane.filling.includes(command.txId)) store(turn, entry, command.nowMs)
  settleLane(turn, lane, command.nowMs)
}

/** The identity provider holds another approval at this nonce, which came to nothing: name it. */
export function nonceTaken(turn: Turn, command: Of<'nonce-taken'>): void {
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
  turn.effect({ type: 'sign', draft: entry.draft, nonce, replaces: takenBy })
}

export function signatureFailed(turn: Turn, command: Of<'sign-failed'>): void {
  const { txId } = command
  const entry = turn.state.drafts.get(txId)
  if (entry === undefined || entry.phase !== 'signing' || entry.nonce !== command.nonce) return
  const lane = laneOf(turn.state, entry.draft.chainId)
  const filling = lane.filling.includes(txId)
  turn.emit({ type: 'signature-failed', txId, fault: command.fault })
  if (filling) releaseFailed(turn, entry)
  settleLane(turn, lane, command.nowMs)
}

/**
 * Stores the unbroken run of signed drafts at the head of the lane. When a signature failed, and
 * all others were heard of, the survivors above it move down and are signed again: nothing of
 * them was stored, so nothing of them can have been sent.
 */
function settleLane(turn: Turn, lane: Lane, nowMs: number): void {
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
 * For one that lost its nonce and landed all the same. A signature that is under way is of no use
 * any more: its nonce goes to what waits above it, as if it had not been given.
 */
export function stopSigningAgain(turn: Turn, txId: TxId, nowMs: number): void {
  const entry = turn.state.drafts.get(txId)
  if (entry === undefined) return
  const lane = laneOf(turn.state, entry.draft.chainId)
  const inSequence = lane.signing.includes(txId)
  if (entry.phase === 'signing' || entry.phase === 'held') {
    turn.emit({ type: 'signature-failed', txId, fault: fault('CHAIN_REJECTED') })
  }
  if (inSequence) settleLane(turn, lane, nowMs)
  else turn.emit({ type: 'released', txId })
}

function releaseFailed(turn: Turn, { draft, screenedAgainst, fault: why }: DraftEntry): void {
  const { txId, token } = draft
  const refusal = why ?? fault('COSIGNER_UNAVAILABLE')
  turn.emit({ type: 'released', txId })
  if (draft.booking === 'stored') {
    // Its first bytes landed meanwhile: nothing is refused.
    if (turn.state.open.get(txId)?.flight !== 'nonce-lost') return
    dropTransaction(turn, txId, refusal, 'nonce-spent')
  }
  turn.refuseSend(token, refusal, draft, screenedAgainst)
}

const NO_CREDITS: readonly CreditUse[] = []

function store(turn: Turn, entry: DraftEntry, nowMs: number): void {
  const { draft, nonce, signed, screenedAgainst } = entry
  const { wallet } = turn.state
  if (wallet === null || signed === null) throw new Error(`${draft.txId} was stored unsigned`)
  if (draft.booking === 'stored') {
    const { txId, maxFeePerGas, maxPriorityFeePerGas } = draft
    const fees = { maxFeePerGas, maxPriorityFeePerGas }
    turn.emit({ type: 'transaction-renonced', txId, nonce, fees, signed })
    const open = turn.state.open.get(txId)
    if (open !== undefined) turn.effect({ type: 'watch', tx: open.tx })
    return
  }
  const { intentId, rawTransaction, txHash, signedAtMs } = signed
  const { maxFeePerGas, maxPriorityFeePerGas, paid = null } = draft
  const credits = paid === null ? NO_CREDITS : usesToStore(turn.state, draft.chainId, paid.uses)
  const tx: Transaction = {
    txId: draft.txId,
    subWalletId: wallet.subWalletId,
    userId: wallet.userId,
    keyId: draft.keyId,
    lineageId: draft.lineageId,
    requestId: draft.requestId,
    chainId: draft.chainId,
    kind: draft.kind,
    from: wallet.address,
    to: draft.to,
    value: draft.value,
    data: draft.data,
    nonce,
    gasLimit: draft.gasLimit,
    status: 'signed',
    attempts: [
      { txHash, rawTransaction, maxFeePerGas, maxPriorityFeePerGas, intentId, signedAtMs },
    ],
    valuation: draft.valuation,
    reservation: draft.reservation,
    ...(credits.length === 0 ? {} : { credits }),
    spentMicros: draft.reservation.micros,
    mined: null,
    error: null,
    createdAtMs: draft.createdAtMs,
    updatedAtMs: nowMs,
    confirmedAtMs: null,
  }
  turn.emit({ type: 'transaction-signed', tx, idempotency: draft.idempotency, screenedAgainst })
  useCredits(turn, tx)
  const approved = allowancesOf(turn.state, draft)
  if (approved !== null) turn.emit(approved)
  for (const event of limitsCrossed(turn.state, tx.keyId, nowMs)) turn.emit(event)
  turn.effect({ type: 'watch', tx })
}

/**
 * Gives stored transactions to the chain, in nonce order, as far as the window allows. Callers
 * whose transaction has to wait learn now that it is signed.
 */
export function pumpFlight(turn: Turn, lane: Lane): void {
  let places = lane.window
  for (const txId of [...lane.flight]) {
    const entry = turn.state.open.get(txId)
    if (entry === undefined) throw new Error(`${txId} is in flight but not open`)
    if (entry.flight === 'waiting') {
      if (places > 0) {
        turn.emit({ type: 'sending', txId })
        const { finalBlock } = lane
        turn.effect({ type: 'broadcast', tx: entry.tx, reach: 'first-node', finalBlock })
      } else answerSigned(turn, entry)
    }
    places--
  }
}

/** `202`: signed and stored; the service goes on trying. */
function answerSigned(turn: Turn, { tx, token }: OpenEntry): void {
  if (token === null) return
  turn.answer(token, new Sent(tx, false))
  turn.emit({ type: 'answered', txId: tx.txId })
}

export function broadcastAnswered(turn: Turn, command: Of<'broadcast-outcome'>): void {
  const { txId, outcome, nowMs, blockNumber } = command
  const entry = turn.state.open.get(txId)
  if (entry === undefined || entry.tx.mined !== null) return
  if (entry.tx.attempts.at(-1)?.txHash !== command.txHash) return
  // Those bytes are given up; another answer about them must not have it signed a second time.
  if (entry.flight === 'nonce-lost') return
  const lane = laneOf(turn.state, entry.tx.chainId)
  switch (outcome.kind) {
    case 'accepted': {
      const { token } = entry
      if (entry.tx.status === 'signed') {
        turn.emit({ type: 'transaction-broadcast', txId, blockNumber, atMs: nowMs })
      } else turn.emit({ type: 'sent-again', txId, blockNumber, atMs: nowMs })
      if (token === null) return
      // The signed bytes are stored and a node has them. A crash before that is stored as well
      // sends the same bytes again, and shows the transaction as `signed` until then.
      turn.answerPromptly(token, new Sent(entry.tx, false))
      turn.emit({ type: 'answered', txId })
      return
    }
    case 'unsure':
      turn.emit({ type: 'unsure', txId, mayBeOut: outcome.mayBeOut })
      answerSigned(turn, entry)
      return
    case 'underpriced':
      turn.emit({ type: 'underpriced', txId })
      answerSigned(turn, entry)
      return
    case 'rejected': {
      const { token, tx } = entry
      if (!believed(entry, outcome.fault)) {
        turn.emit({ type: 'doubted', txId })
        answerSigned(turn, entry)
        return
      }
      dropTransaction(turn, txId, outcome.fault, 'nonce-free')
      turn.refuseSend(token, outcome.fault, tx)
      break
    }
    case 'nonce-lost':
      // A signature of before that is not heard of yet holds its place in the lane.
      if (turn.state.drafts.has(txId) || (entry.hasLanded && entry.losses < LOSSES_TO_BELIEVE)) {
        turn.emit({ type: 'loss-doubted', txId })
        answerSigned(turn, entry)
        return
      }
      signAgain(turn, entry, lane, outcome.chainNonce)
      break
  }
  pumpFlight(turn, lane)
  pumpSigning(turn, lane)
}

/** Verdicts that follow from the bytes alone, so that no node can ever have thought otherwise. */
const REFUSED_BY_EVERY_NODE: ReadonlySet<unknown> = new Set(['intrinsic-gas', 'invalid'])

/**
 * A refusal ends a transaction only while none of its bytes can be in any pool. Otherwise they may
 * land all the same, beside whatever took the nonce or the money over: it is sent again, then
 * cancelled at its own nonce, and the chain decides.
 */
function believed({ tx, mayBeOut }: OpenEntry, { details }: Fault): boolean {
  if (!mayBeOut) return true
  return tx.status === 'signed' && REFUSED_BY_EVERY_NODE.has(details.reason)
}

/** Proofs in a row: a minute or more of blocks on which nodes agree, after a reorg. */
const LOSSES_TO_BELIEVE = 32

/** The chain will never take it: all of its spend is released. */
export function dropTransaction(
  turn: Turn,
  txId: TxId,
  why: Fault,
  nonce: 'nonce-free' | 'nonce-spent',
): void {
  const tx = turn.state.open.get(txId)?.tx
  if (tx === undefined) throw new Error(`${txId} is not open`)
  turn.effect({ type: 'unwatch', tx })
  undoCredits(turn, tx)
  turn.emit({
    type: 'transaction-ended',
    txId,
    status: 'dropped',
    spentMicros: 0n,
    error: { code: why.code, message: why.message },
    nonceFreed: nonce === 'nonce-free',
    atMs: tx.updatedAtMs,
  })
}

/**
 * Its nonce went to a transaction that is none of ours, so these bytes can never land: it is
 * signed again at a new nonce, as long as the proof of the key that asked for it is at hand.
 */
function signAgain(turn: Turn, entry: OpenEntry, lane: Lane, chainNonce: number): void {
  const { tx, token, proofKey } = entry
  const { txId, chainId } = tx
  if (lane.signing.length === 0 && (lane.nextNonce ?? 0) < chainNonce) {
    const { window, nextNonce: before } = lane
    turn.emit({ type: 'lane-synced', chainId, before, nextNonce: chainNonce, window })
  }
  const newest = tx.attempts.at(-1)
  if (proofKey === null || newest === undefined || newest.cancels === true) {
    const why = fault(
      'CHAIN_REJECTED',
      { reason: 'nonce used from outside' },
      'The nonce of this transaction was used from outside the service; nothing was sent. Send again.',
    )
    dropTransaction(turn, txId, why, 'nonce-spent')
    turn.refuseSend(token, why, tx)
    return
  }
  const draft: Draft = {
    ...tx,
    maxFeePerGas: newest.maxFeePerGas,
    maxPriorityFeePerGas: newest.maxPriorityFeePerGas,
    problem: null,
    forecast: null,
    proofKey,
    idempotency: null,
    token,
    booking: 'stored',
  }
  turn.emit({ type: 'nonce-lost', txId, draft })
}
