import type { Hex, LineageId, TxId } from '../../../src/domain/ids.js'
import { NO_SPEND, reserve, rollForward, settle, unsettle } from '../../../src/domain/spend.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import { foldAllowances, foldCredits } from './allowance-ledger.js'
import { bookDraft, unbookDraft } from './drafted-spend.js'
import { evolveSponsored } from './evolve-sponsored.js'
import {
  ascending,
  forgetUse,
  freeNonce,
  goOnAt,
  joinFlight,
  trimGaps,
  without,
} from './lane-nonces.js'
import { noteTold } from './limit-crossings.js'
import type { Event } from './messages.js'
import { evolveGrants } from './open-grants.js'
import {
  type DraftEntry,
  type Lane,
  laneOf,
  type OpenEntry,
  restoredEntry,
  runningKey,
  type SubWalletState,
} from './state.js'
import { isPlain } from './unmined-calls.js'

/**
 * Folds an event into the state, in place: the mailbox owns it. Deterministic, and the only code
 * that changes a sub-wallet's state, but for what says where the store lists it (record.ts).
 */
export function evolve(state: SubWalletState, event: Event): SubWalletState {
  switch (event.type) {
    case 'wallet-created':
      state.wallet = event.wallet
      state.allowancesComplete = true
      return state
    case 'key-put':
      state.keys.set(event.key.keyId, event.key)
      return state
    case 'idempotency-forgotten':
      return state
    case 'lineages-forgotten':
      forgetSpend(state, event.lineageIds)
      return state
    case 'reserved': {
      const { draft } = event
      const { lineageId, idempotency, txId } = draft
      state.drafts.set(txId, {
        draft,
        phase: 'screening',
        nonce: -1,
        replaces: null,
        signed: null,
        screenedAgainst: [],
        fault: null,
      })
      bookDraft(state, lineageId, draft.reservation, draft.createdAtMs)
      if (idempotency !== null) state.running.set(runningKey(lineageId, idempotency.key), txId)
      return state
    }
    case 'released':
      forgetDraft(state, event.txId)
      return state
    case 'queued': {
      const entry = draftOf(state, event.txId)
      entry.phase = 'queued'
      entry.screenedAgainst = event.screenedAgainst
      const lane = laneOfDraft(state, event.txId)
      lane.line = without(lane.line, event.txId)
      lane.queued.push(event.txId)
      return state
    }
    case 'lined-up': {
      const { txId } = event
      draftOf(state, txId).phase = 'screening'
      const lane = laneOfDraft(state, txId)
      lane.queued = without(lane.queued, txId)
      lane.line = event.first ? [txId, ...lane.line] : [...lane.line, txId]
      return state
    }
    case 'lane-synced': {
      const lane = laneOf(state, event.chainId)
      goOnAt(lane, event.nextNonce)
      lane.window = event.window
      lane.gaps = lane.gaps.filter((nonce) => event.nextNonce !== null && nonce < event.nextNonce)
      return state
    }
    case 'nonce-assigned': {
      const entry = draftOf(state, event.txId)
      const lane = laneOfDraft(state, event.txId)
      const again = entry.phase === 'signing'
      entry.phase = 'signing'
      entry.nonce = event.nonce
      entry.replaces = event.replaces
      if (again) return state
      lane.queued = without(lane.queued, event.txId)
      if (lane.nextNonce !== null && event.nonce < lane.nextNonce) {
        lane.gaps = lane.gaps.filter((nonce) => nonce !== event.nonce)
        lane.filling.push(event.txId)
      } else lane.signing.push(event.txId)
      return state
    }
    case 'signature-held': {
      const entry = draftOf(state, event.txId)
      entry.phase = 'held'
      entry.signed = event.signed
      return state
    }
    case 'signature-failed': {
      const entry = draftOf(state, event.txId)
      entry.phase = 'failed'
      entry.fault = event.fault
      const lane = laneOfDraft(state, event.txId)
      if (lane.filling.includes(event.txId)) {
        lane.filling = without(lane.filling, event.txId)
        lane.gaps = ascending([...lane.gaps, entry.nonce])
      } else lane.sequence = 'draining'
      return state
    }
    case 'lane-resequenced': {
      const lane = laneOf(state, event.chainId)
      for (const txId of lane.signing) {
        const entry = draftOf(state, txId)
        entry.phase = 'queued'
        entry.signed = null
      }
      lane.queued = [...lane.signing, ...lane.queued]
      lane.signing = []
      lane.sequence = 'steady'
      return state
    }
    case 'transaction-signed':
      signed(state, event.tx)
      return state
    case 'allowances-recorded':
      foldAllowances(state, event)
      return state
    case 'credits-changed':
      foldCredits(state, event)
      return state
    case 'limit-reached':
      noteTold(state, event.mark)
      return state
    case 'sending':
      openOf(state, event.txId).flight = 'sending'
      return state
    case 'unsure': {
      const entry = openOf(state, event.txId)
      entry.flight = 'unsure'
      entry.mayBeOut ||= event.mayBeOut
      return state
    }
    case 'doubted': {
      const entry = openOf(state, event.txId)
      entry.flight = 'unsure'
      entry.refusals++
      return state
    }
    case 'loss-doubted': {
      const entry = openOf(state, event.txId)
      entry.flight = 'unsure'
      entry.mayBeOut = true
      entry.losses++
      return state
    }
    case 'underpriced':
      openOf(state, event.txId).flight = 'underpriced'
      return state
    case 'sent-again': {
      taken(openOf(state, event.txId), event)
      return state
    }
    case 'ages-from': {
      const entry = openOf(state, event.txId)
      const { blockNumber } = event
      entry.sentAtBlock = blockNumber
      entry.takenAtBlock = Math.min(entry.takenAtBlock ?? blockNumber, blockNumber)
      return state
    }
    case 'nonce-lost': {
      const entry = openOf(state, event.txId)
      const lane = laneOf(state, entry.tx.chainId)
      entry.flight = 'nonce-lost'
      lane.flight = without(lane.flight, event.txId)
      lane.queued.push(event.txId)
      state.drafts.set(event.txId, {
        draft: event.draft,
        phase: 'queued',
        nonce: -1,
        replaces: null,
        signed: null,
        screenedAgainst: [],
        fault: null,
      })
      return state
    }
    case 'transaction-renonced': {
      const entry = openOf(state, event.txId)
      forgetDraft(state, event.txId)
      const { nonce, signed: bytes, fees } = event
      entry.tx = {
        ...entry.tx,
        nonce,
        status: 'signed',
        attempts: [...entry.tx.attempts, { ...bytes, ...fees }],
        updatedAtMs: bytes.signedAtMs,
      }
      entry.flight = 'waiting'
      entry.sentAtBlock = null
      entry.mayBeOut = false
      const lane = joinFlight(state, entry)
      lane.nextNonce = Math.max(lane.nextNonce ?? 0, nonce + 1)
      return state
    }
    case 'final-block': {
      laneOf(state, event.chainId).finalBlock = event.finalBlock
      return state
    }
    case 'gaps-found': {
      const lane = laneOf(state, event.chainId)
      lane.gaps = ascending([...lane.gaps, ...event.nonces])
      trimGaps(lane)
      return state
    }
    case 'answered':
      openOf(state, event.txId).token = null
      return state
    case 'transaction-broadcast': {
      const entry = taken(openOf(state, event.txId), event)
      entry.tx = { ...entry.tx, status: 'broadcast', updatedAtMs: event.atMs }
      return state
    }
    case 'transaction-mined': {
      const entry = openOf(state, event.txId)
      entry.flight = 'sent'
      const { txHash } = event.mined
      const { attempts } = entry.tx
      entry.tx = {
        ...entry.tx,
        // The newest are what goes out again after a reorg, and they are to be at its nonce.
        ...(event.nonce === entry.tx.nonce ? {} : { attempts: lastOf(attempts, txHash) }),
        nonce: event.nonce,
        status: 'broadcast',
        mined: event.mined,
        updatedAtMs: event.atMs,
      }
      const lane = laneOf(state, entry.tx.chainId)
      lane.flight = without(lane.flight, event.txId)
      lane.usedBelow = Math.max(lane.usedBelow, entry.tx.nonce + 1)
      return state
    }
    case 'transaction-unmined': {
      const entry = openOf(state, event.txId)
      entry.flight = 'unsure'
      entry.hasLanded = true
      entry.sentAtBlock = null
      entry.tx = { ...entry.tx, mined: null, updatedAtMs: event.atMs }
      forgetUse(joinFlight(state, entry), entry.tx.nonce)
      return state
    }
    case 'transaction-reopened': {
      const { tx } = event
      const before = state.spend.get(tx.lineageId) ?? NO_SPEND
      state.spend.set(tx.lineageId, unsettle(before, tx.reservation, tx.spentMicros))
      const reopened: Transaction = {
        ...tx,
        status: 'broadcast',
        mined: null,
        spentMicros: tx.reservation.micros,
        error: null,
        confirmedAtMs: null,
        updatedAtMs: event.atMs,
      }
      const entry = restoredEntry(reopened, 'unsure')
      entry.hasLanded = true
      state.open.set(tx.txId, entry)
      forgetUse(joinFlight(state, entry), tx.nonce)
      return state
    }
    case 'transaction-ended': {
      const entry = openOf(state, event.txId)
      const { tx } = entry
      const before = state.spend.get(tx.lineageId) ?? NO_SPEND
      state.spend.set(tx.lineageId, settle(before, tx.reservation, event.spentMicros))
      entry.tx = {
        ...tx,
        status: event.status,
        spentMicros: event.spentMicros,
        error: event.error,
        updatedAtMs: event.atMs,
        confirmedAtMs: event.status === 'confirmed' ? event.atMs : null,
      }
      const lane = laneOf(state, tx.chainId)
      lane.flight = without(lane.flight, event.txId)
      if (event.nonceFreed) freeNonce(lane, tx.nonce)
      if (entry.idempotency !== null) {
        state.running.delete(runningKey(tx.lineageId, entry.idempotency.key))
      }
      state.open.delete(event.txId)
      state.ended.set(event.txId, entry.tx)
      return state
    }
    case 'replacing':
      openOf(state, event.txId).replacing = event.on
      return state
    case 'transaction-replaced': {
      const entry = openOf(state, event.txId)
      const bytes = { ...event.signed, ...event.fees }
      const attempt = event.purpose === 'cancel' ? ({ ...bytes, cancels: true } as const) : bytes
      entry.replacing = false
      entry.flight = 'sending'
      entry.sentAtBlock = null
      const { reservation } = event
      const { lineageId } = entry.tx
      const more = reservation.micros - entry.tx.reservation.micros
      if (more > 0n) {
        const before = state.spend.get(lineageId) ?? NO_SPEND
        state.spend.set(lineageId, reserve(before, { ...reservation, micros: more }))
      }
      entry.tx = {
        ...entry.tx,
        attempts: [...entry.tx.attempts, attempt],
        reservation,
        spentMicros: reservation.micros,
        updatedAtMs: event.signed.signedAtMs,
      }
      return state
    }
    case 'grant-opened':
    case 'grant-closed':
    case 'grant-released':
    case 'grant-sending':
    case 'grant-sent':
    case 'grants-resting':
      evolveGrants(state.grants, event)
      return state
    default:
      evolveSponsored(state, event)
      return state
  }
}

function forgetSpend(state: SubWalletState, lineageIds: readonly LineageId[]): void {
  for (const lineageId of lineageIds) state.spend.delete(lineageId)
  for (const [told, mark] of state.limitsTold) {
    if (lineageIds.includes(mark.lineageId)) state.limitsTold.delete(told)
  }
}

function signed(state: SubWalletState, tx: Transaction): void {
  const { txId, lineageId, reservation } = tx
  const draft = state.drafts.get(txId)?.draft
  if (draft !== undefined) forgetDraft(state, txId)
  const before = rollForward(state.spend.get(lineageId) ?? NO_SPEND, tx.createdAtMs)
  state.spend.set(lineageId, reserve(before, reservation))
  const open = restoredEntry(tx, 'waiting', draft !== undefined && isPlain(draft))
  open.mayBeOut = false
  open.token = draft?.token ?? null
  open.proofKey = draft?.proofKey ?? null
  open.idempotency = draft?.idempotency ?? null
  if (open.idempotency !== null) {
    state.running.set(runningKey(lineageId, open.idempotency.key), txId)
  }
  state.open.set(txId, open)
  const lane = joinFlight(state, open)
  lane.nextNonce = Math.max(lane.nextNonce ?? 0, tx.nonce + 1)
}

/** A node has its newest bytes. */
function taken(
  entry: OpenEntry,
  { blockNumber, atMs }: Extract<Event, { type: 'sent-again' | 'transaction-broadcast' }>,
): OpenEntry {
  entry.flight = 'sent'
  entry.mayBeOut = true
  entry.refusals = 0
  entry.losses = 0
  if (entry.sentAtBlock === null) entry.sentAtMs = atMs
  entry.sentAtBlock ??= blockNumber
  entry.takenAtBlock = blockNumber ?? entry.takenAtBlock
  entry.takenAtMs = atMs
  return entry
}

function lastOf(attempts: Transaction['attempts'], txHash: Hex): Transaction['attempts'] {
  const landed = attempts.filter((attempt) => attempt.txHash === txHash)
  return [...attempts.filter((attempt) => attempt.txHash !== txHash), ...landed]
}

function forgetDraft(state: SubWalletState, txId: TxId): void {
  const { draft } = draftOf(state, txId)
  const { lineageId, idempotency, reservation } = draft
  if (draft.booking === 'drafted') unbookDraft(state, lineageId, reservation)
  if (idempotency !== null) state.running.delete(runningKey(lineageId, idempotency.key))
  const lane = laneOf(state, draft.chainId)
  lane.queued = without(lane.queued, txId)
  lane.line = without(lane.line, txId)
  lane.signing = without(lane.signing, txId)
  lane.filling = without(lane.filling, txId)
  state.drafts.delete(txId)
}

function draftOf(state: SubWalletState, txId: TxId): DraftEntry {
  const entry = state.drafts.get(txId)
  if (entry === undefined) throw new Error(`${txId} is no draft`)
  return entry
}

function openOf(state: SubWalletState, txId: TxId): OpenEntry {
  const entry = state.open.get(txId)
  if (entry === undefined) throw new Error(`${txId} is not open`)
  return entry
}

function laneOfDraft(state: SubWalletState, txId: TxId): Lane {
  return laneOf(state, draftOf(state, txId).draft.chainId)
}
