import type { AuditRecord } from '../domain/audit.js'
import { type AuditId, ID_PREFIX } from '../domain/ids.js'
import { newId } from './new-id.js'

type Entry = Pick<AuditRecord, 'userId' | 'atMs' | 'type' | 'details'> &
  Partial<Pick<AuditRecord, 'subWalletId' | 'keyId' | 'requestId' | 'txId' | 'lists'>>

/** Gives a record its id, and null where nothing is said. */
export function auditEntry(
  entry: Entry,
  auditId: AuditId = newId<AuditId>(ID_PREFIX.audit),
): AuditRecord {
  const { userId, atMs, type, details } = entry
  const { subWalletId = null, keyId = null, requestId = null, txId = null, lists = null } = entry
  return { auditId, userId, atMs, type, subWalletId, keyId, requestId, txId, details, lists }
}
