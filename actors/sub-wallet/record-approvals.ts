import { type Approval, approversOf } from '../../src/domain/approval.js'
import type { AuditType, NewAuditRecord } from '../../src/domain/audit.js'
import type { NewEvent } from '../../src/domain/event.js'
import type { EventType } from '../../src/domain/event-types.js'
import { type QuoteName, quoteKey } from '../../src/domain/idempotency.js'
import { isoTime } from '../../src/domain/iso-time.js'
import { formatUsd } from '../../src/domain/money.js'
import type { Transaction } from '../../src/domain/transaction.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import type { Reader } from '../../src/store/reader.js'
import type { Writer } from '../../src/store/writer.js'
import type { ApprovalEvent } from './core/approval-messages.js'
import type { SubWalletState } from './core/state.js'
import { waitingOf } from './core/waiting-calls.js'
import { restoreWaiting } from './core/waiting-state.js'

/** Loads the waiting calls with their decisions. */
export function loadWaiting(reader: Reader, state: SubWalletState): void {
  const { wallet, subWalletId, waiting } = state
  if (wallet === null) return
  for (const approval of reader.approvals.waitingOf(subWalletId, wallet.userId)) {
    const tx = reader.transactions.byId(approval.txId)
    if (tx !== undefined) restoreWaiting(waiting, tx, approval)
  }
}

/** True for the events that change the store; volatile ones change nothing. */
const IS_DURABLE: Readonly<Record<ApprovalEvent['type'], boolean>> = {
  'approval-requested': true,
  'approval-registered': true,
  'approval-decided': true,
  'approval-approved': true,
  'approval-bound': true,
  'approval-asked-again': true,
  'approval-ended': true,
  'approval-wanted': false,
  'approval-registering': false,
  'approval-unregistered': false,
  'approvals-resting': false,
  'approval-running': false,
  'approval-rested': false,
  'approvals-wake': false,
}

export function isApprovalEvent(event: { readonly type: string }): event is ApprovalEvent {
  return event.type in IS_DURABLE
}

/**
 * Writes what an event of a waiting call changed.
 * @returns true when the wallet's header has changed too
 */
export function recordApproval(
  writer: Writer,
  state: SubWalletState,
  event: ApprovalEvent,
): boolean {
  switch (event.type) {
    case 'approval-requested': {
      const { tx, approval, idempotency, executes } = event
      const { subWalletId, lineageId, txId, createdAtMs } = tx
      writer.addTransaction(tx, null)
      writer.putApproval(approval)
      writer.markWaiting(subWalletId, approval.approvalId)
      if (idempotency !== null) {
        const { key, bodyHash } = idempotency
        writer.putIdempotency(lineageId, key, { bodyHash, txId, createdAtMs })
      }
      if (executes !== undefined) putExecuted(writer, executes, tx)
      const { requestedAtMs: atMs } = approval
      writer.appendEvent(approvalEvent('approval.requested', tx, approval, atMs))
      writer.appendAudit(approvalAudit('approval.requested', tx, approval, tx.requestId, atMs))
      return true
    }
    case 'approval-registered':
    case 'approval-bound':
      writer.putApproval(event.approval)
      return false
    case 'approval-decided': {
      const { approval, decision, requestId } = event
      const { atMs } = decision
      const tx = callOf(state, approval)
      writer.putApproval(approval)
      if (decision.decision === 'approve') {
        writer.appendAudit(approvalAudit('approval.decided', tx, approval, requestId, atMs))
      }
      return false
    }
    case 'approval-approved': {
      const { approval, atMs } = event
      const tx = callOf(state, approval)
      writer.putApproval(approval)
      writer.appendEvent(approvalEvent('approval.approved', tx, approval, atMs))
      return false
    }
    case 'approval-asked-again': {
      const { tx, approval, atMs } = event
      writer.putApproval(approval)
      writer.putTransaction(tx)
      writer.appendEvent(approvalEvent('approval.requested', tx, approval, atMs))
      writer.appendAudit(approvalAudit('approval.asked_again', tx, approval, null, atMs))
      return true
    }
    case 'approval-ended': {
      const { tx, approval, requestId, atMs } = event
      writer.putApproval(approval)
      writer.unmarkWaiting(tx.subWalletId, approval.approvalId)
      writer.putTransaction(tx)
      const end = endingOf(tx)
      writer.appendAudit(approvalAudit(`approval.${end}`, tx, approval, requestId, atMs))
      const type = EVENT_OF_END[end]
      if (type !== null) writer.appendEvent(approvalEvent(type, tx, approval, atMs))
      return true
    }
    default:
      return false
  }
}

/** Removes the mark of a waiting call, because from now on it is a transaction like any other. */
export function recordSigned(writer: Writer, { subWalletId, approval }: Transaction): void {
  if (approval !== undefined) writer.unmarkWaiting(subWalletId, approval.approvalId)
}

/** Records which transaction has executed a quote. */
export function putExecuted(
  writer: Writer,
  executes: QuoteName,
  { txId, createdAtMs }: Pick<Transaction, 'txId' | 'createdAtMs'>,
): void {
  const record = { bodyHash: executes.quoteId, txId, createdAtMs }
  writer.putIdempotency(executes.lineageId, quoteKey(executes), record)
}

type End = 'declined' | 'expired' | 'withdrawn' | 'dropped'

const EVENT_OF_END: Readonly<Record<End, EventType | null>> = {
  declined: 'approval.declined',
  expired: 'approval.expired',
  // The agent that withdrew the call needs no event.
  withdrawn: null,
  dropped: 'transaction.dropped',
}

function endingOf({ txId, status }: Transaction): End {
  if (status === 'declined' || status === 'expired' || status === 'withdrawn') return status
  if (status === 'dropped') return status
  throw new Error(`${txId} no longer waits and is ${status}`)
}

/** The call as it is after the command. */
function callOf(state: SubWalletState, { txId }: Approval): Transaction {
  const tx = state.ended.get(txId) ?? state.open.get(txId)?.tx
  return tx === undefined ? waitingOf(state, txId).tx : (tx as Transaction)
}

function approvalEvent(
  type: EventType,
  tx: Transaction,
  approval: Approval,
  atMs: number,
): NewEvent {
  const moment = {
    ...{ txId: tx.txId, attemptCount: 0, nonce: tx.nonce, status: tx.status },
    ...{ spentMicros: tx.spentMicros, mined: null, error: tx.error },
    ...{ updatedAtMs: tx.updatedAtMs, confirmedAtMs: null },
  }
  const common = { eventId: null, userId: tx.userId, type, atMs, subWalletId: tx.subWalletId }
  if (type === 'transaction.dropped') {
    return { ...common, laneKey: `${tx.subWalletId}:${tx.call.chainId}`, data: null, moment }
  }
  return { ...common, laneKey: null, data: outlineOf(tx, approval) }
}

function approvalAudit(
  type: Extract<AuditType, `approval.${string}`>,
  tx: Transaction,
  approval: Approval,
  requestId: string | null,
  atMs: number,
): NewAuditRecord {
  const { userId, subWalletId, keyId, txId } = tx
  const decided = approval.decisions.map(({ authorizerId, personIds, decision, comment }) => ({
    ...{ authorizer_id: authorizerId, decision, comment },
    ...((personIds ?? null) === null ? {} : { person_ids: personIds }),
  }))
  return auditEntry({
    ...{ userId, subWalletId, keyId, txId, requestId, atMs, type },
    details: { ...outlineOf(tx, approval), decisions: decided, error: tx.error },
  })
}

/**
 * An outline instead of the calldata, which may be 128 KiB; the transaction's record has it in
 * full.
 */
function outlineOf(tx: Transaction, approval: Approval): Readonly<Record<string, unknown>> {
  const { txId, keyId, subWalletId, call, kind, reservation } = tx
  const last = approval.decisions.at(-1)
  return {
    approval_id: approval.approvalId,
    tx_id: txId,
    key_id: keyId,
    sub_wallet_id: subWalletId,
    status: approval.status,
    rule: approval.rule,
    needed: approval.needed,
    approved_by: [...approversOf(approval)],
    url: approval.url,
    operation: kind,
    chain_id: call.chainId,
    // The contract that people see when they sign; for a sponsored call its venue.
    to: approval.sponsored?.terms.target ?? call.to,
    value: call.value.toString(),
    selector: call.data.slice(0, 10),
    spend_usd: formatUsd(reservation.micros),
    max_native_wei: approval.maxNativeWei.toString(),
    asked_again: approval.askedAgain,
    comment: last?.comment ?? null,
    requested_at: isoTime(approval.requestedAtMs),
    expires_at: isoTime(approval.expiresAtMs),
  }
}
