import { knownTermsOf } from '../../contracts/router-intent.js'
import type { AuditRecord } from '../../domain/audit.js'
import type { Call } from '../../domain/call.js'
import type { Address, Hex, KeyId, SubWalletId, TxId, UserId } from '../../domain/ids.js'
import { parseUsd } from '../../domain/money.js'
import type { IntentTerms } from '../../domain/sponsored-terms.js'
import { isSponsored } from '../../domain/sponsorship.js'
import type { TxKind, Valuation } from '../../domain/transaction.js'
import { decodeAudit } from '../../store/encodings/audit.js'
import type { Environment } from '../../store/environment.js'
import type { Reader } from '../../store/reader.js'

/** A decided call, as far as it is stored. */
export interface PastDecision {
  readonly txId: TxId
  readonly userId: UserId
  readonly subWalletId: SubWalletId
  readonly keyId: KeyId
  readonly requestId: string
  readonly kind: TxKind
  readonly call: Call
  /** False for a refusal with calldata: the trail stores only its outline. */
  readonly hasCalldata: boolean
  /** The terms of a sponsored call; null when they are not stored. */
  readonly terms: IntentTerms | null
  readonly atMs: number
  /** Null when it was allowed. */
  readonly code: string | null
  readonly reasons: Readonly<Record<string, unknown>>
  /** Null when it is not stored, or the call was refused before it was valued. */
  readonly valuation: Valuation | null
  readonly lists: AuditRecord['lists']
}

/** @returns null when no transaction and no refusal has the id */
export function pastDecision(
  environment: Environment,
  reader: Reader,
  txId: TxId,
): PastDecision | null {
  const refusal = refusalOf(environment, txId)
  if (refusal !== null) return ofRefusal(refusal, txId)
  const tx = reader.transactions.byId(txId)
  if (tx === undefined) return null
  const { userId, subWalletId, keyId, requestId, kind, call, createdAtMs, valuation } = tx
  const entry = reader.audit.allowed(userId, txId)
  const approvalId = tx.approval?.approvalId
  const approval =
    approvalId === undefined ? null : (reader.approvals.byId(userId, approvalId) ?? null)
  return {
    ...{ txId, userId, subWalletId, keyId, requestId, kind, call, valuation },
    hasCalldata: true,
    terms: isSponsored(kind) ? knownTermsOf(call, approval) : null,
    atMs: createdAtMs,
    code: null,
    reasons: {},
    lists: entry?.lists ?? null,
  }
}

/** Refusals have no index, so the trail is read from its beginning. */
function refusalOf({ spaces }: Environment, txId: TxId): AuditRecord | null {
  for (const { value } of spaces.audit.getRange({})) {
    const record = decodeAudit(value)
    if (record.txId === txId && record.type === 'send.refused') return record
  }
  return null
}

function ofRefusal(record: AuditRecord, txId: TxId): PastDecision | null {
  const { userId, subWalletId, keyId, requestId, atMs, details, lists } = record
  if (subWalletId === null || keyId === null) return null
  const { code, reasons, chain_id, kind, to, value, selector, data_bytes } = details
  return {
    ...{ txId, userId, subWalletId, keyId, atMs, lists },
    requestId: requestId ?? txId,
    kind: kind as TxKind,
    call: {
      chainId: Number(chain_id),
      to: to as Address,
      value: BigInt(String(value)),
      data: selector as Hex,
    },
    hasCalldata: data_bytes === 0,
    terms: null,
    code: String(code),
    reasons: (reasons ?? {}) as Readonly<Record<string, unknown>>,
    valuation: valuationOf(details),
  }
}

function valuationOf({ code, reasons, value_usd, gas_usd }: AuditRecord['details']) {
  // The refusal of a cap contains the call's value, including what its key had already paid.
  const { requested_usd } = (reasons ?? {}) as { readonly requested_usd?: unknown }
  if (code === 'LIMIT_EXCEEDED') return worth(parseUsd(String(requested_usd)), 0n)
  return worth(parseUsd(String(value_usd)), parseUsd(String(gas_usd)))
}

function worth(valueMicros: bigint | null, gasMicros: bigint | null): Valuation | null {
  if (valueMicros === null || gasMicros === null) return null
  // The sum of gas and value is known, so no gate needs the price.
  return { valueMicros, gasMicros, nativePrice: 0n, nativePriceDecimals: 0 }
}
