import type { TxId } from '../../../src/domain/ids.js'
import type { Reservation } from '../../../src/domain/spend.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { ApprovalEvent } from './approval-messages.js'
import { reserveOnPath, settleOnPath } from './path-spend.js'
import { type Draft, runningKeysOf, type SubWalletState } from './state.js'
import { addWaiting, type WaitingCall } from './waiting-state.js'

export function waitingOf({ waiting }: SubWalletState, txId: TxId): WaitingCall {
  const found = waiting.byTx.get(txId)
  if (found === undefined) throw new Error(`${txId} does not wait for approval`)
  return found
}

/** Folds events of waiting calls, in place. */
export function evolveWaiting(state: SubWalletState, event: ApprovalEvent): void {
  const { waiting } = state
  switch (event.type) {
    case 'approval-requested': {
      const { tx, approval, idempotency, executes } = event
      addWaiting(waiting, tx, approval, idempotency, executes)
      hold(state, tx.lineageId, tx.reservation, tx.updatedAtMs)
      for (const key of runningKeysOf({ lineageId: tx.lineageId, idempotency, executes })) {
        state.running.set(key, tx.txId)
      }
      return
    }
    case 'approval-registered':
    case 'approval-decided':
    case 'approval-approved':
      waitingOf(state, event.approval.txId).approval = event.approval
      return
    case 'approval-bound':
      waitingOf(state, event.approval.txId).approval = event.approval
      waiting.bound.add(event.approval.txId)
      return
    case 'approval-asked-again': {
      const call = waitingOf(state, event.approval.txId)
      call.approval = event.approval
      waiting.dataChars += event.tx.call.data.length - call.tx.call.data.length
      call.tx = event.tx
      call.phase = 'asked'
      call.rests = 0
      return
    }
    case 'approval-ended':
      ended(state, event.tx)
      return
    case 'approval-wanted': {
      const entry = state.drafts.get(event.txId) ?? state.sponsored.get(event.txId)
      if (entry !== undefined) entry.screenedAgainst = event.screenedAgainst
      return
    }
    case 'approval-registering':
      waiting.registering = event.txId
      return
    case 'approval-unregistered':
      waitingOf(state, event.txId).timesFailed += 1
      return
    case 'approvals-resting':
      waiting.resting = event.on
      waiting.failures = event.failures
      return
    case 'approval-running':
      waitingOf(state, event.txId).phase = 'running'
      return
    case 'approval-rested': {
      const call = waitingOf(state, event.txId)
      call.phase = 'resting'
      call.restUntilMs = event.untilMs
      call.rests += 1
      return
    }
    case 'approvals-wake':
      waiting.wakesAtMs = event.wakesAtMs
      return
  }
}

type Held = Pick<Draft, 'txId' | 'lineageId' | 'reservation' | 'valuation' | 'createdAtMs'>

/** Changes what the call holds after prices and fees moved on. */
export function holdAgain(state: SubWalletState, draft: Held): void {
  const call = waitingOf(state, draft.txId)
  const { lineageId, reservation, valuation, createdAtMs } = draft
  release(state, call.tx)
  hold(state, lineageId, reservation, createdAtMs)
  call.tx = { ...call.tx, reservation, valuation, spentMicros: reservation.micros }
}

/** Removes a call that is signed: its transaction holds the reservation from now on. */
export function leaveWaiting(state: SubWalletState, txId: TxId): boolean {
  const call = state.waiting.byTx.get(txId)
  if (call === undefined) return false
  forget(state, call)
  return true
}

function ended(state: SubWalletState, tx: Transaction): void {
  const call = waitingOf(state, tx.txId)
  release(state, call.tx)
  forget(state, call)
  state.ended.set(tx.txId, tx)
}

function forget(state: SubWalletState, { tx, idempotency, executes }: WaitingCall): void {
  const { waiting, running } = state
  waiting.byTx.delete(tx.txId)
  waiting.bound.delete(tx.txId)
  waiting.dataChars -= tx.call.data.length
  for (const key of runningKeysOf({ lineageId: tx.lineageId, idempotency, executes })) {
    if (running.get(key) === tx.txId) running.delete(key)
  }
}

function hold(
  state: SubWalletState,
  lineageId: Transaction['lineageId'],
  reservation: Reservation,
  nowMs: number,
): void {
  reserveOnPath(state, lineageId, reservation, nowMs)
}

function release(state: SubWalletState, { lineageId, reservation }: Transaction): void {
  settleOnPath(state, lineageId, reservation, 0n)
}
