import type { AuditedList, AuditRecord } from '../../domain/audit.js'
import type { Transaction } from '../../domain/transaction.js'
import { type AllowedVerdict, allowedAuditId, allowedEntry } from '../allowed-entry.js'
import { listOf, named, nullable, record, recordWithout, scalar } from './codec.js'
import { packed, packedPair, type Unsealed } from './sealing.js'

/**
 * An entry of the audit trail is stored as a list of two. The second is the lists that a verdict
 * rests on, which are most of it: verdicts share one array of them until a list changes, and its
 * bytes are kept.
 */
type Stored = readonly [entry: unknown, lists: unknown]

const LISTS = nullable(
  listOf(record<AuditedList>({ list: scalar, version: scalar, checked_at: scalar })),
)

const ENTRY = recordWithout<AuditRecord, 'lists'>('lists', {
  auditId: scalar,
  userId: scalar,
  atMs: scalar,
  type: scalar,
  subWalletId: scalar,
  keyId: scalar,
  requestId: scalar,
  txId: scalar,
  details: named,
})

/** In the index of its user's transactions, whose records say the rest. */
const VERDICT = recordWithout<AllowedVerdict, 'lists'>('lists', {
  atMs: scalar,
  reservedMicros: scalar,
})

const NO_LISTS = Uint8Array.from(packed(null))

const listsBytes = new WeakMap<readonly AuditedList[], Uint8Array>()

/** @returns a value to put in the space `transactionsByUser` */
export function encodeVerdict(verdict: AllowedVerdict): Unsealed {
  return packedPair(VERDICT.encode(verdict), bytesOf(verdict.lists))
}

/** @param stored what the space holds, but for a 1 */
export function decodeVerdict(stored: unknown, tx: Transaction): AuditRecord {
  const [verdict, lists] = stored as Stored
  const allowed = VERDICT.decode(verdict, LISTS.decode(lists, null))
  return { ...allowedEntry(tx, allowed), auditId: allowedAuditId(tx.txId) }
}

/** @returns a value to put in the space `audit` */
export function encodeAudit(entry: AuditRecord): Unsealed {
  return packedPair(ENTRY.encode(entry), bytesOf(entry.lists))
}

export function decodeAudit(stored: unknown): AuditRecord {
  const [entry, lists] = stored as Stored
  return ENTRY.decode(entry, LISTS.decode(lists, null))
}

function bytesOf(lists: AuditRecord['lists']): Uint8Array {
  if (lists === null) return NO_LISTS
  const known = listsBytes.get(lists)
  if (known !== undefined) return known
  // A copy: what is packed lies in a block that many share, and this is kept for long.
  const bytes = Uint8Array.from(packed(LISTS.encode(lists, null)))
  listsBytes.set(lists, bytes)
  return bytes
}
