import type { DeliveryRecord } from '../../../actors/webhook-endpoint/core/delivery-record.js'
import { transactionView } from '../../api/transaction-view.js'
import type { Approval } from '../../domain/approval.js'
import type { AuditRecord, ScreenedAgainst } from '../../domain/audit.js'
import type { StoredEvent } from '../../domain/event.js'
import type { TxId, UserId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { formatUsd, valueUsdMicros } from '../../domain/money.js'
import { QUOTAS_MAX } from '../../domain/quotas.js'
import { isSponsored } from '../../domain/sponsorship.js'
import { isFinal, type Transaction, type TxStatus } from '../../domain/transaction.js'
import { fault, ok, refuse } from '../../errors/fault.js'
import type { Reader } from '../../store/reader.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { approvalView } from './approvals.js'
import { auditView } from './audit.js'
import { NOT_KEPT, predictedOfTransaction } from './predicted-outcome.js'
import { predictedView, pricesView } from './predicted-view.js'
import { refusedDetail } from './refused-detail.js'
import { signaturesOf } from './signatures.js'
import { tokenNames } from './token-names.js'
import { entriesOf, eventsOf } from './transaction-traces.js'
import { deliveryView } from './webhook-views.js'

type ReadPorts = Pick<
  OperationPorts,
  'reader' | 'chains' | 'recordedApproval' | 'headOf' | 'readableSeq'
>

export function getTransaction(ports: ReadPorts): ConsoleHandlers['get_transaction'] {
  const { reader, headOf } = ports
  return ({ userId }, { tx_id }) => {
    // The order matters: a snapshot older than the bound would lack events.
    const readable = ports.readableSeq(userId)
    const tx = reader.fresh().transactions.byId(tx_id as TxId)
    if (tx?.userId !== userId) {
      const refusal = tx === undefined ? refusalOf(reader, userId, tx_id as TxId) : undefined
      return refusal === undefined
        ? refuse(fault('NOT_FOUND', { tx_id }))
        : ok(refusedDetail(ports, refusal))
    }
    const approvalId = tx.approval?.approvalId
    const approval =
      approvalId === undefined ? null : (reader.approvals.byId(userId, approvalId) ?? null)
    const events = eventsOf(reader, tx, approval, readable)
    const entries = entriesOf(reader, userId, tx.txId)
    const verdict = entries.find(({ type }) => type === 'send.allowed')
    const lists = verdict?.lists ?? approval?.screenedAgainst.map(listView)
    const predicted = predictedOfTransaction(tx, approval, verdict)
    const named = tokenNames(ports.chains, tx.call.chainId)
    const { valuation, attempts } = tx
    const { nativePrice, nativePriceDecimals } = valuation
    const coin = { value: nativePrice, decimals: nativePriceDecimals }
    return {
      ok: true,
      value: {
        ...transactionView(tx, headOf(tx.call.chainId)),
        data_bytes: (tx.call.data.length - 2) / 2,
        sub_wallet_id: tx.subWalletId,
        request_id: tx.requestId,
        gas_limit: tx.gasLimit.toString(),
        valuation: {
          value_usd: formatUsd(valuation.valueMicros),
          gas_usd: isSponsored(tx.kind) ? null : formatUsd(valuation.gasMicros),
          native_price_usd: formatUsd(valueUsdMicros(1n, 0, coin.value, coin.decimals)),
          reserved_usd: formatUsd(tx.reservation.micros),
          prices: pricesView(predicted, coin, named),
        },
        simulation: predictedView(predicted, named, NOT_KEPT),
        attempts: attempts.map((attempt) => ({
          tx_hash: attempt.txHash,
          signed_at: isoTime(attempt.signedAtMs),
          max_fee_per_gas_wei: attempt.maxFeePerGas.toString(),
          max_priority_fee_per_gas_wei: attempt.maxPriorityFeePerGas.toString(),
          cancels: attempt.cancels === true,
        })),
        signatures: signaturesOf(ports, tx),
        timeline: timelineOf(tx, approval, events),
        screened_against: lists?.map((list) => ({ ...list })) ?? null,
        approvals: approval === null ? [] : [approvalView(ports, approval)],
        events: eventsWithDeliveries(reader, tx, events),
        audit: entries.reverse().map(auditView),
      },
    }
  }
}

/** The refusal of a call that became no transaction. */
function refusalOf(reader: Reader, userId: UserId, txId: TxId): AuditRecord | undefined {
  return entriesOf(reader, userId, txId).find(
    ({ type, details }) => type === 'send.refused' && typeof details.chain_id === 'number',
  )
}

function listView({ list, version, checkedAtMs }: ScreenedAgainst) {
  return { list, version, checked_at: isoTime(checkedAtMs) }
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
  // A stable sort keeps events of the same millisecond in the order of a transaction's life.
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
