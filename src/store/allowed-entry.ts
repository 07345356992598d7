import type { AuditedList, NewAuditRecord } from '../domain/audit.js'
import type { ForeseenOutcome } from '../domain/foreseen.js'
import { type AuditId, ID_PREFIX, type TxId } from '../domain/ids.js'
import { formatUsd, type UsdMicros } from '../domain/money.js'
import type { Transaction } from '../domain/transaction.js'
import { auditEntry } from './audit-entry.js'

/** Why a transaction was let through, besides what its own record says for good. */
export interface AllowedVerdict {
  readonly atMs: number
  /** A replacement may reserve more later. */
  readonly reservedMicros: UsdMicros
  readonly lists: readonly AuditedList[] | null
  /** Absent of plain transfers and of Router intents, whose records say what they were to do. */
  readonly foreseen?: ForeseenOutcome
}

/** The entry of the audit trail that says so. */
export function allowedEntry(
  { txId, userId, subWalletId, keyId, requestId, call, kind }: Transaction,
  { atMs, reservedMicros, lists, foreseen }: AllowedVerdict,
): NewAuditRecord {
  const details = { chain_id: call.chainId, kind, reserved_usd: formatUsd(reservedMicros) }
  const said = { userId, subWalletId, keyId, requestId, txId, atMs, details, lists }
  return auditEntry({ ...said, foreseen: foreseen ?? null, type: 'send.allowed' })
}

/** Of a transaction whose verdict is stored with it: there is one entry of each. */
export function allowedAuditId(txId: TxId): AuditId {
  return (ID_PREFIX.audit + txId.slice(ID_PREFIX.tx.length)) as AuditId
}

/** The inverse of `allowedAuditId`; of another entry's id, one that no transaction has. */
export function allowedTxId(auditId: string): TxId {
  return (ID_PREFIX.tx + auditId.slice(ID_PREFIX.audit.length)) as TxId
}
