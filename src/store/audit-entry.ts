import type { AuditRecord } from '../domain/audit.js'
import { type AuditId, ID_PREFIX } from '../domain/ids.js'
import { newId } from './new-id.js'

/** Gives a record its id, and null where nothing is said. */
export function auditEntry(
  entry: Pick<AuditRecord, 'userId' | 'atMs' | 'type' | 'details'> &
    Partial<Pick<AuditRecord, 'subWalletId' | 'keyId' | 'requestId' | 'txId'>>,
): AuditRecord {
  return {
    auditId: newId<AuditId>(ID_PREFIX.audit),
    subWalletId: null,
    keyId: null,
    requestId: null,
    txId: null,
    ...entry,
  }
}
