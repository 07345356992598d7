import type { DeliveryRecord } from '../../../actors/webhook-endpoint/core/delivery-record.js'
import { transactionView } from '../../api/transaction-view.js'
import type { Approval } from '../../domain/approval.js'
import type { StoredEvent } from '../../domain/event.js'
import type { TxId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { formatUsd, valueUsdMicros } from '../../domain/money.js'
import { QUOTAS_MAX } from '../../domain/quotas.js'
import { isFinal, type Transaction, type TxStatus } from '../../domain/transaction.js'
import { fault } from '../../errors/fault.js'
import type { Reader } from '../../store/reader.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { approvalView } from './approvals.js'
import { auditView } from './audit.js'
import { entriesOf, eventsOf } from './transaction-traces.js'
import { deliveryView } from './webhook-views.js'

type ReadPorts = Pick<OperationPorts, 'reader' | 'headOf' | 'readableSeq'>

export function getTransaction(ports: ReadPorts): ConsoleHandlers['get_transaction'] {
  const { reader, headOf } = ports
  return ({ userId }, { tx_id }) => {
    // In this order: a snapshot older than the bound would lack events.
    const readable = ports.readableSeq(userId)
    const tx = reader.fresh().transactions.byId(tx_id as TxId)
    if (tx?.userId !== userId) return { ok: false, fault: fault('NOT_FOUND', { tx_id }) }
    const approvalId = tx.approval?.approvalId
    const approval =
      approvalId === undefined ? null : (reader.approvals.byId(userId, approvalId) ?? null)
    const events = eventsOf(reader, tx, approval, readable)
    const entries = entriesOf(reader, userId, tx.txId)
    const lists = reader.audit.allowed(userId, tx.txId)?.lists
    const { valuation, attempts } = tx
    const { nativePrice, nativePriceDecimals } = valuation
    const coinMicros = valueUsdMicros(1n, 0, nativePrice, nativePriceDecimals)
    return {
      ok: true,
      value: {
        ...transactionView(tx, headOf(tx.call.chainId)),
        sub_wallet_id: tx.subWalletId,
        request_id: tx.requestId,
        gas_limit: tx.gasLimit.toString(),
        valuation: {
          value_usd: formatUsd(valuation.valueMicros),
          gas_usd: formatUsd(valuation.gasMicros),
          native_price_usd: formatUsd(coinMicros),
          reserved_usd: formatUsd(tx.reservation.micros),
        },
        attempts: attempts.map((attempt) => ({
          tx_hash: attempt.txHash,
          signed_at: isoTime(attempt.signedAtMs),
          max_fee_per_gas_wei: attempt.maxFeePerGas.toString(),
          max_priority_fee_per_gas_wei: attempt.maxPriorityFeePerGas.toString(),
          cancels: attempt.cancels === true,
        })),
        timeline: timelineOf(tx, approval, events),
        screened_against: lists?.map((list) => ({ ...list })) ?? null,
        approvals: approval === null ? [] : [approvalView(approval, tx)],
        events: eventsWithDeliveries(reader, tx, events),
        audit: entries.reverse().map(auditView),
      },
    }
  }
}

interface Moment {
  readonly step: FinalStep | EarlierStep
  readonly atMs: number | null
  readonly txHash?: string
  readonly blockNumber?: number
}
type FinalStep = Exclude<TxStatus, 'awaiting_approval' | 'signed' | 'broadcast'>
type EarlierStep =
  | 'decided'
  | 'approval_requested'
  | 'approved'
  | 'signed'
  | 'broadcast'
  | 'replaced'
  | 'cancel_signed'
  | 'mined'

function timelineOf(tx: Transaction, approval: Approval | null, events: readonly StoredEvent[]) {
  const moments: Moment[] = [{ step: 'decided', atMs: tx.createdAtMs }]
  if (approval !== null) {
    moments.push({ step: 'approval_requested', atMs: approval.requestedAtMs })
    if (approval.status === 'approved') {
      moments.push({ step: 'approved', atMs: approval.decidedAtMs })
    }
  }
  for (const [index, { txHash, signedAtMs, cancels }] of tx.attempts.entries()) {
    const step = cancels === true ? 'cancel_signed' : index === 0 ? 'signed' : 'replaced'
    moments.push({ step, atMs: signedAtMs, txHash })
  }
  for (const { type, atMs } of events) {
    if (type === 'transaction.broadcast') moments.push({ step: 'broadcast', atMs })
  }
  // Stable: what happened in one millisecond stays in the order of a transaction's life.
  moments.sort((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0))
  const { mined, status } = tx
  if (mined !== null) {
    const { txHash, blockNumber } = mined
    moments.push({ step: 'mined', atMs: null, txHash, blockNumber })
  }
  if (isFinalStep(status)) moments.push({ step: status, atMs: tx.confirmedAtMs ?? tx.updatedAtMs })
  return moments.map(({ step, atMs, txHash = null, blockNumber = null }) => ({
    ...{ step, at: atMs === null ? null : isoTime(atMs) },
    ...{ tx_hash: txHash, block_number: blockNumber },
  }))
}

function isFinalStep(status: TxStatus): status is FinalStep {
  return isFinal(status)
}

function eventsWithDeliveries(reader: Reader, tx: Transaction, events: readonly StoredEvent[]) {
  const endpoints =
    events.length === 0 ? [] : reader.webhooks.soundOfUser(tx.userId, QUOTAS_MAX.webhooks)
  return events.map(({ seq, eventId, type, atMs }) => ({
    ...{ seq, event_id: eventId, type, timestamp: isoTime(atMs) },
    deliveries: endpoints.flatMap(({ webhookId, kind, url }) => {
      const record = reader.deliveries.byEvent<DeliveryRecord>(webhookId, eventId)
      if (record === undefined) return []
      return [{ webhook_id: webhookId, kind, url, ...deliveryView(record, { seq, type }) }]
    }),
  }))
}
