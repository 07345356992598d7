import type { AuditedList, NewAuditRecord } from '../domain/audit.js'
import { type AuditId, ID_PREFIX, type TxId } from '../domain/ids.js'
import { formatUsd, type UsdMicros } from '../domain/money.js'
import type { PredictedOutcome } from '../domain/predicted-outcome.js'
import type { Transaction } from '../domain/transaction.js'
import { auditEntry } from './audit-entry.js'

/** Why a transaction was allowed, as far as its own record does not keep it for good. */
export interface AllowedVerdict {
  readonly atMs: number
  /** A replacement may reserve more later. */
  readonly reservedMicros: UsdMicros
  readonly lists: readonly AuditedList[] | null
  /**
   * Absent for plain transfers and for Router intents, whose records contain what they were to do.
   */
  readonly predicted?: PredictedOutcome
}

/** Builds the audit entry of an allowed transaction. */
export function allowedEntry(
  { txId, userId, subWalletId, keyId, requestId, call, kind, shownPayees }: Transaction,
  { atMs, reservedMicros, lists, predicted }: AllowedVerdict,
): NewAuditRecord {
  const details = {
    ...{ chain_id: call.chainId, kind, reserved_usd: formatUsd(reservedMicros) },
    // Breakers counted them: with these their trips can be worked out again.
    ...(shownPayees === undefined ? {} : { shown_payees: shownPayees }),
  }
  const said = { userId, subWalletId, keyId, requestId, txId, atMs, details, lists }
  return auditEntry({ ...said, predicted: predicted ?? null, type: 'send.allowed' })
}

/** The audit id of a transaction's verdict, which is stored with it: each transaction has one. */
export function allowedAuditId(txId: TxId): AuditId {
  return (ID_PREFIX.audit + txId.slice(ID_PREFIX.tx.length)) as AuditId
}

/**
 * The inverse of `allowedAuditId`. The id of any other entry yields an id that no transaction has.
 */
export function allowedTxId(auditId: string): TxId {
  return (ID_PREFIX.tx + auditId.slice(ID_PREFIX.audit.length)) as TxId
}
