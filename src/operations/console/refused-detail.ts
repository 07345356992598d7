import type { AuditRecord } from '../../domain/audit.js'
import type { Address, Hex } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import { parseUsd } from '../../domain/money.js'
import type { PredictedOutcome } from '../../domain/predicted-outcome.js'
import { isSponsored } from '../../domain/sponsorship.js'
import type { TxKind } from '../../domain/transaction.js'
import type { ErrorCode } from '../../errors/catalogue.js'
import { predictFromCalldata } from '../../policy/predict-from-calldata.js'
import type { OperationPorts } from '../ports.js'
import { auditView } from './audit.js'
import { NOT_KEPT } from './predicted-outcome.js'
import { predictedView, pricesView } from './predicted-view.js'
import { describeRefusal } from './refusal-words.js'
import { tokenNames } from './token-names.js'

const NOT_VALUED = 'It was refused before it was valued, so it was not simulated.'
const SCREENED_FIRST = 'Screening refused it before it was simulated.'
const NO_TERMS = 'No terms could be made for it that the Router would execute.'

type ReadPorts = Pick<OperationPorts, 'reader' | 'chains'>

/**
 * Shows a refused call in the form of a transaction. No transaction exists; the audit trail has its
 * outline, with the first bytes of its calldata.
 * @param entry `send.refused` with this tx_id
 */
export function refusedDetail({ reader, chains }: ReadPorts, entry: AuditRecord) {
  const { details, lists, txId, keyId, subWalletId, requestId, atMs } = entry
  const outline = outlineOf(details)
  const wallet = subWalletId === null ? undefined : reader.wallets.byId(subWalletId)
  const named = tokenNames(chains, outline.chainId)
  const predicted = predictedOfRefused(entry)
  const isValued = typeof details.value_usd === 'string'
  const price = typeof details.native_price_usd === 'string' ? details.native_price_usd : null
  return {
    tx_id: txId ?? '',
    tx_hash: null,
    chain_id: outline.chainId,
    from: wallet?.address ?? '',
    to: outline.to,
    value: outline.value.toString(),
    data: outline.selector,
    data_bytes: outline.dataBytes,
    nonce: null,
    status: 'refused' as const,
    kind: outline.kind,
    spend_usd: '0.00',
    fee_native_wei: null,
    block_number: null,
    confirmations: 0,
    error: { code: String(details.code), message: describeRefusal(details) },
    replaced_hashes: [],
    key_id: keyId ?? '',
    created_at: isoTime(atMs),
    updated_at: isoTime(atMs),
    confirmed_at: null,
    sub_wallet_id: subWalletId ?? '',
    request_id: requestId ?? '',
    gas_limit: null,
    valuation: isValued
      ? {
          value_usd: String(details.value_usd),
          gas_usd: typeof details.gas_usd === 'string' ? details.gas_usd : null,
          native_price_usd: price,
          reserved_usd: null,
          prices: pricesView(predicted, nativePrice(price), named),
        }
      : null,
    simulation: simulationOf(entry, predictedView(predicted, named, whyNone(entry))),
    attempts: [],
    signatures: [],
    timeline: [{ step: 'refused' as const, at: isoTime(atMs), tx_hash: null, block_number: null }],
    screened_against: lists === null ? null : lists.map((list) => ({ ...list })),
    approvals: [],
    events: [],
    audit: [auditView(entry)],
  }
}

/** Why no predicted outcome is known. */
function whyNone({ details }: AuditRecord): string {
  const { code, kind, value_usd } = details
  if (typeof value_usd !== 'string') return NOT_VALUED
  // Long calldata is screened before it is valued, so that its cost ends here.
  if (code === 'ADDRESS_BLOCKED' || code === 'CALLDATA_UNDECODABLE') return SCREENED_FIRST
  return isSponsored(kind as TxKind) ? NO_TERMS : NOT_KEPT
}

type Simulation = ReturnType<typeof predictedView>

/** A simulation that fails moves nothing, and is the reason for the refusal. */
function simulationOf({ details }: AuditRecord, shown: Simulation): Simulation {
  return shown.basis === 'run' && FAILED.has(details.code) ? { ...shown, note: RUN_FAILED } : shown
}

const FAILED: ReadonlySet<unknown> = new Set<ErrorCode>([
  'SIMULATION_REVERTED',
  'INSUFFICIENT_FUNDS',
])
const RUN_FAILED = 'A node simulated it, and it failed, so nothing would have moved.'

/** The outline contains only native currency. */
function predictedOfRefused({ details, predicted }: AuditRecord): PredictedOutcome | null {
  const { kind, chainId, to, value, dataBytes } = outlineOf(details)
  if (predicted !== null || isSponsored(kind) || dataBytes > 0) return predicted
  const worth = parseUsd(String(details.value_usd))
  return worth === null
    ? null
    : predictFromCalldata({ operation: kind, chainId, to, value, data: '0x' }, worth)
}

function outlineOf(details: AuditRecord['details']) {
  const { chain_id, kind, to, value, selector, data_bytes } = details
  return {
    chainId: Number(chain_id),
    kind: kind as TxKind,
    to: to as Address,
    value: BigInt(String(value)),
    selector: selector as Hex,
    dataBytes: Number(data_bytes),
  }
}

/** @param usd as it was formatted: a decimal with any number of digits */
function nativePrice(usd: string | null) {
  if (usd === null) return null
  const [whole = '', fraction = ''] = usd.split('.')
  return { value: BigInt(whole + fraction), decimals: fraction.length }
}
