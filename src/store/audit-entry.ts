import type { NewAuditRecord } from '../domain/audit.js'

type Entry = Pick<NewAuditRecord, 'userId' | 'atMs' | 'type' | 'details'> &
  Partial<
    Pick<NewAuditRecord, 'subWalletId' | 'keyId' | 'requestId' | 'txId' | 'lists' | 'predicted'>
  >

/** Builds an entry without an id; absent fields become null. */
export function auditEntry(entry: Entry): NewAuditRecord {
  const { userId, atMs, type, details } = entry
  const { subWalletId = null, keyId = null, requestId = null, txId = null, lists = null } = entry
  const said = { auditId: null, userId, atMs, type, subWalletId, keyId, requestId, txId, details }
  return { ...said, lists, predicted: entry.predicted ?? null }
}
