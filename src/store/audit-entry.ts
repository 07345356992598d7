import type { NewAuditRecord } from '../domain/audit.js'

type Entry = Pick<NewAuditRecord, 'userId' | 'atMs' | 'type' | 'details'> &
  Partial<
    Pick<NewAuditRecord, 'subWalletId' | 'keyId' | 'requestId' | 'txId' | 'lists' | 'foreseen'>
  >

/** An entry that has no id yet, and null where nothing is said. */
export function auditEntry(entry: Entry): NewAuditRecord {
  const { userId, atMs, type, details } = entry
  const { subWalletId = null, keyId = null, requestId = null, txId = null, lists = null } = entry
  const said = { auditId: null, userId, atMs, type, subWalletId, keyId, requestId, txId, details }
  return { ...said, lists, foreseen: entry.foreseen ?? null }
}
