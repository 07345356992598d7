import type { LineageId, TxId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { UnitsTaken } from '../../../src/policy/ceilings.js'
import { evolveAccount, foldEnded, foldReopened, foldSigned } from '../../account/core/evolve.js'
import { foldDraft } from '../../account/core/evolve-drafts.js'
import { openOf } from '../../account/core/state.js'
import { isAccountEvent } from '../../account/core/written.js'
import { foldAllowances, foldCredits } from './allowance-ledger.js'
import { releaseDraft, reserveDraft } from './drafted-spend.js'
import { evolveBreakers } from './evolve-breakers.js'
import { evolveReceipts, forgetReceipt } from './evolve-receipts.js'
import { evolveSponsored } from './evolve-sponsored.js'
import { foldKey } from './key-tree.js'
import { noteLimit } from './limit-crossings.js'
import type { Event } from './messages.js'
import { evolveGrants } from './open-grants.js'
import { leaveDay, reserveOnPath, settleOnPath, unsettleOnPath } from './path-spend.js'
import {
  areStillKnown,
  bookCall,
  countedAtMs,
  giveUnitsBack,
  notePaid,
  noteUnpaid,
  removeLedger,
  takeUnitsAgain,
} from './policy-ledgers.js'
import { type Draft, runningKey, type SubWalletState } from './state.js'
import { isPlain } from './unmined-calls.js'
import { evolveWaiting, holdAgain, leaveWaiting } from './waiting-calls.js'

type Of<T extends Event['type']> = Extract<Event, { type: T }>

/**
 * Folds an event into the state, in place: the mailbox owns the state. The fold is deterministic
 * and the only code that changes a sub-wallet's state, except the fields that say where the store
 * lists it (record.ts).
 */
export function evolve(state: SubWalletState, event: Event): SubWalletState {
  switch (event.type) {
    case 'wallet-created':
      state.wallet = event.wallet
      state.allowancesComplete = true
      break
    case 'key-put':
      foldKey(state, event.key)
      break
    case 'payees-read':
      // Calls signed since the read are among the open ones.
      if (state.payees !== null || !areStillKnown(state, event.payees)) break
      state.payees = new Map(event.payees.times)
      for (const { tx } of state.open.values()) notePaid(state, tx)
      break
    case 'idempotency-forgotten':
      break
    case 'lineages-forgotten':
      forgetSpend(state, event.lineageIds)
      break
    case 'allowances-recorded':
      foldAllowances(state, event)
      break
    case 'credits-changed':
      foldCredits(state, event)
      break
    case 'breakers-counted':
    case 'breaker-tripped':
      evolveBreakers(state, event)
      break
    case 'limit-reached':
      noteLimit(state, event.mark)
      break
    case 'grant-opened':
    case 'grant-closed':
    case 'grant-released':
    case 'grant-sending':
    case 'grant-sent':
    case 'grants-resting':
      evolveGrants(state.grants, event)
      break
    case 'approval-requested':
    case 'approval-registered':
    case 'approval-decided':
    case 'approval-approved':
    case 'approval-bound':
    case 'approval-asked-again':
    case 'approval-ended':
    case 'approval-wanted':
    case 'approval-registering':
    case 'approval-unregistered':
    case 'approvals-resting':
    case 'approval-running':
    case 'approval-rested':
    case 'approvals-wake':
      evolveWaiting(state, event)
      break
    default:
      evolveCall(state, event)
  }
  return state
}

type CallEvent = Parameters<typeof evolveAccount>[1] | Parameters<typeof evolveSponsored>[1]
type OwnCallEvent = Of<
  | 'reserved'
  | 'reserved-again'
  | 'transaction-signed'
  | 'reservation-raised'
  | 'receipt-asked'
  | 'receipt-valued'
  | 'receipt-forgotten'
  | 'transaction-reopened'
  | 'transaction-ended'
>

/** Folds events of calls and what they hold of the counters. */
function evolveCall(state: SubWalletState, event: CallEvent | OwnCallEvent): void {
  switch (event.type) {
    case 'reserved':
      reserved(state, event.draft)
      return
    case 'reserved-again':
      reservedAgain(state, event.draft)
      return
    case 'released':
      freeReservation(state, event.txId)
      evolveAccount(state, event)
      return
    case 'transaction-signed':
      signed(state, event.tx)
      return
    case 'reservation-raised':
      raised(state, event)
      return
    case 'receipt-asked':
    case 'receipt-valued':
    case 'receipt-forgotten':
      evolveReceipts(state, event)
      return
    case 'transaction-reopened':
      reopened(state, event)
      return
    case 'transaction-ended':
      ended(state, event)
      return
    default:
      if (isAccountEvent(event)) evolveAccount(state, event)
      else evolveSponsored(state, event)
  }
}

function forgetSpend(state: SubWalletState, lineageIds: readonly LineageId[]): void {
  for (const lineageId of lineageIds) {
    leaveDay(state, lineageId)
    state.spend.delete(lineageId)
    state.refusals.delete(lineageId)
    removeLedger(state, lineageId)
  }
  for (const [told, mark] of state.limitNotices) {
    if (lineageIds.includes(mark.lineageId)) state.limitNotices.delete(told)
  }
}

function reserved(state: SubWalletState, draft: Draft): void {
  const { lineageId, idempotency, txId } = draft
  foldDraft(state, draft, 'screening')
  if (draft.approval === undefined) {
    reserveDraft(state, lineageId, draft.reservation, draft.createdAtMs)
  }
  if (idempotency !== null) state.running.set(runningKey(lineageId, idempotency.key), txId)
}

function reservedAgain(state: SubWalletState, draft: Draft): void {
  const entry = state.drafts.get(draft.txId)
  if (entry === undefined) throw new Error(`${draft.txId} is not a draft`)
  const { lineageId, reservation, createdAtMs } = draft
  if (draft.approval !== undefined) holdAgain(state, draft)
  else {
    releaseDraft(state, lineageId, entry.draft.reservation)
    if (reservation.micros > 0n) reserveDraft(state, lineageId, reservation, createdAtMs)
  }
  entry.draft = draft
}

/**
 * Frees the reservation of a draft. A draft that lost its nonce uses the reservation of a stored
 * transaction or of a waiting call, which stays.
 */
function freeReservation(state: SubWalletState, txId: TxId): void {
  const draft = state.drafts.get(txId)?.draft
  if (draft === undefined) throw new Error(`${txId} is not a draft`)
  const { lineageId, idempotency, reservation } = draft
  if (isHeldByDraft(draft)) releaseDraft(state, lineageId, reservation)
  if (idempotency !== null) state.running.delete(runningKey(lineageId, idempotency.key))
}

function isHeldByDraft({ signs, approval }: Draft): boolean {
  return signs === 'first-time' && approval === undefined
}

function signed(state: SubWalletState, tx: Transaction): void {
  const { txId, lineageId, reservation } = tx
  const draft = state.drafts.get(txId)?.draft
  // A call that waited already holds its reservation.
  if (tx.approval === undefined || !leaveWaiting(state, txId)) {
    reserveOnPath(state, lineageId, reservation, tx.updatedAtMs)
  }
  foldSigned(state, tx)
  if (draft === undefined) return
  if (isHeldByDraft(draft)) releaseDraft(state, lineageId, draft.reservation)
  bookCall(state, tx, countedWhenSigned(tx, draft))
  notePaid(state, tx)
  const { proofKey, idempotency } = draft
  state.requests.set(txId, { proofKey, idempotency, isPlain: isPlain(draft) })
}

/**
 * The units that the call counts at the time of its signing. They may have been judged a day
 * earlier.
 */
function countedWhenSigned(tx: Transaction, { counted }: Draft): Draft['counted'] {
  const atMs = countedAtMs(tx)
  return counted === undefined || counted.atMs === atMs ? counted : { ...counted, atMs }
}

function raised(state: SubWalletState, event: Of<'reservation-raised'>): void {
  const { txId, reservation, extraWei, atMs } = event
  const entry = openOf(state, txId)
  const { lineageId, reservation: held, call, unitsTaken } = entry.tx
  settleOnPath(state, lineageId, held, 0n)
  reserveOnPath(state, lineageId, reservation, atMs)
  entry.tx = { ...entry.tx, reservation, spentMicros: reservation.micros }
  if (extraWei === 0n) return
  const extra = { chainId: call.chainId, token: 'native', amount: extraWei } as const
  takeUnitsAgain(state, lineageId, atMs, [extra])
  entry.tx = { ...entry.tx, unitsTaken: withUnits(unitsTaken ?? [], extra) }
}

function withUnits(taken: readonly UnitsTaken[], extra: UnitsTaken): readonly UnitsTaken[] {
  const isSame = ({ chainId, token }: UnitsTaken) =>
    chainId === extra.chainId && token === extra.token
  const before = taken.find(isSame)
  const amount = extra.amount + (before?.amount ?? 0n)
  return [...taken.filter((units) => units !== before), { ...extra, amount }]
}

function reopened(state: SubWalletState, { tx, atMs }: Of<'transaction-reopened'>): void {
  const { lineageId, reservation, spentMicros } = tx
  unsettleOnPath(state, lineageId, reservation, spentMicros)
  const held: Transaction = { ...tx, spentMicros: reservation.micros }
  foldReopened(state, held, atMs)
  if (tx.status !== 'confirmed') {
    takeUnitsAgain(state, lineageId, countedAtMs(tx), tx.unitsTaken)
    notePaid(state, tx)
  }
  forgetReceipt(state, tx.txId)
}

function ended(state: SubWalletState, event: Of<'transaction-ended'>): void {
  const { txId, status, spentMicros, error, atMs } = event
  const { tx } = openOf(state, txId)
  const { lineageId, reservation } = tx
  settleOnPath(state, lineageId, reservation, spentMicros)
  const confirmedAtMs = status === 'confirmed' ? atMs : null
  const end: Transaction = { ...tx, status, spentMicros, error, updatedAtMs: atMs, confirmedAtMs }
  foldEnded(state, end, event.nonceFreed)
  if (status !== 'confirmed') {
    giveUnitsBack(state, lineageId, countedAtMs(tx), tx.unitsTaken)
    noteUnpaid(state, tx)
  }
  state.receipts.delete(txId)
  const request = state.requests.get(txId)
  if (request === undefined) return
  const { idempotency } = request
  if (idempotency !== null) state.running.delete(runningKey(lineageId, idempotency.key))
  state.requests.delete(txId)
}
