import type { AuditedList, AuditRecord } from '../../domain/audit.js'
import type { Transaction } from '../../domain/transaction.js'
import { type AllowedVerdict, allowedAuditId, allowedEntry } from '../allowed-entry.js'
import { packed, packedPair, type Unsealed } from './sealing.js'

/**
 * An entry of the audit trail is stored as a list of two. The second is the lists that a verdict
 * rests on, which are most of it: verdicts share one array of them until a list changes, and its
 * bytes are kept.
 */
type Stored = readonly [entry: StoredEntry, lists: StoredLists | null]

/** In the index of its user's transactions, whose records say the rest. */
type StoredVerdict = readonly [
  allowed: readonly [
    atMs: AllowedVerdict['atMs'],
    reservedMicros: AllowedVerdict['reservedMicros'],
  ],
  lists: StoredLists | null,
]

/** Up to schema 5 as the trail shows them. */
type StoredLists = readonly (
  | AuditedList
  | readonly [list: string, version: string, checkedAt: string]
)[]

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

/** @returns a value to put in the space `transactionsByUser` */
export function encodeVerdict({ atMs, reservedMicros, lists }: AllowedVerdict): Unsealed {
  return packedPair(packed([atMs, reservedMicros]), bytesOf(lists))
}

/** @param stored what the space holds, but for a 1; up to schema 5 a whole entry */
export function decodeVerdict(stored: unknown, tx: Transaction): AuditRecord {
  if (typeof (stored as unknown as Stored)[0][0] === 'string') return decodeAudit(stored)
  const [[atMs, reservedMicros], lists] = stored as unknown as StoredVerdict
  const verdict = { atMs, reservedMicros, lists: listsOf(lists) }
  return allowedEntry(tx, verdict, allowedAuditId(tx.txId))
}

/** @returns a value to put in the space `audit` */
export function encodeAudit(record: AuditRecord): Unsealed {
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
  const record = { auditId, userId, atMs, type, subWalletId, keyId, requestId, txId, details }
  return { ...record, lists: listsOf(lists) }
}

function listsOf(stored: StoredLists | null): AuditRecord['lists'] {
  if (stored === null) return null
  return stored.map((one) => {
    if ('list' in one) return one
    const [list, version, checked_at] = one
    return { list, version, checked_at }
  })
}

function bytesOf(lists: AuditRecord['lists']): Uint8Array {
  if (lists === null) return NO_LISTS
  const known = listsBytes.get(lists)
  if (known !== undefined) return known
  const stored: StoredLists = lists.map(({ list, version, checked_at }) => [
    list,
    version,
    checked_at,
  ])
  // A copy: what is packed lies in a block that many share, and this is kept for long.
  const bytes = Uint8Array.from(packed(stored))
  listsBytes.set(lists, bytes)
  return bytes
}
