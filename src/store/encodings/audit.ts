import type { AuditedList, AuditRecord } from '../../domain/audit.js'
import { type Binary, packed, packedPair } from './packing.js'

/**
 * An entry of the audit trail is stored as a list of two. The second is the lists that a verdict
 * rests on, which are most of it: verdicts share one array of them until a list changes, and its
 * bytes are kept.
 */
type Stored = readonly [entry: StoredEntry, lists: AuditRecord['lists']]

type StoredEntry = readonly [
  auditId: AuditRecord['auditId'],
  userId: AuditRecord['userId'],
  atMs: AuditRecord['atMs'],
  type: AuditRecord['type'],
  subWalletId: AuditRecord['subWalletId'],
  keyId: AuditRecord['keyId'],
  requestId: AuditRecord['requestId'],
  txId: AuditRecord['txId'],
  details: AuditRecord['details'],
]

const NO_LISTS = Uint8Array.from(packed(null))

const listsBytes = new WeakMap<readonly AuditedList[], Uint8Array>()

/** @returns a value to put in the space `audit` or in `transactionsByUser` */
export function encodeAudit(record: AuditRecord): Binary {
  const { auditId, userId, atMs, type, subWalletId, keyId, requestId, txId, details } = record
  const entry: StoredEntry = [
    auditId,
    userId,
    atMs,
    type,
    subWalletId,
    keyId,
    requestId,
    txId,
    details,
  ]
  return packedPair(packed(entry), bytesOf(record.lists))
}

/** @param stored what the space holds; an entry of schema 3 or before has its lists in `details` */
export function decodeAudit(stored: unknown): AuditRecord {
  if (!Array.isArray(stored)) return { ...(stored as Omit<AuditRecord, 'lists'>), lists: null }
  const [entry, lists] = stored as unknown as Stored
  const [auditId, userId, atMs, type, subWalletId, keyId, requestId, txId, details] = entry
  return { auditId, userId, atMs, type, subWalletId, keyId, requestId, txId, details, lists }
}

function bytesOf(lists: AuditRecord['lists']): Uint8Array {
  if (lists === null) return NO_LISTS
  const known = listsBytes.get(lists)
  if (known !== undefined) return known
  // A copy: what is packed lies in a block that many share, and this is kept for long.
  const bytes = Uint8Array.from(packed(lists))
  listsBytes.set(lists, bytes)
  return bytes
}
