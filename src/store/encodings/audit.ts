import type { AuditedList, AuditRecord } from '../../domain/audit.js'
import type { PredictedOutcome } from '../../domain/predicted-outcome.js'
import type { Transaction } from '../../domain/transaction.js'
import { type AllowedVerdict, allowedAuditId, allowedEntry } from '../allowed-entry.js'
import { listOf, named, nullable, record, recordWithout, scalar } from './codec.js'
import { PREDICTED } from './predicted-outcome.js'
import { packed, packedPair, packedRecord, type Unsealed } from './sealing.js'

/**
 * An audit entry is stored as a list of two. The second element is the screening lists that the
 * verdict used, which is most of the entry. Verdicts share one array of lists until a list changes,
 * so its bytes are cached. A third element holds the predicted outcome of the call; a plain send
 * has none.
 */
type Stored = readonly [entry: unknown, lists: unknown, predicted?: unknown]

const LISTS = nullable(
  listOf(record<AuditedList>({ list: scalar, version: scalar, checked_at: scalar })),
)

const ENTRY = recordWithout<Omit<AuditRecord, 'predicted'>, 'lists'>('lists', {
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

/**
 * A verdict in the index of its user's transactions; the transaction's record has the other fields.
 */
const VERDICT = recordWithout<Omit<AllowedVerdict, 'predicted'>, 'lists'>('lists', {
  atMs: scalar,
  reservedMicros: scalar,
})

const NO_LISTS = Uint8Array.from(packed(null))

const listsBytes = new WeakMap<readonly AuditedList[], Uint8Array>()

/** @returns a value to put in the space `transactionsByUser` */
export function encodeVerdict(verdict: AllowedVerdict): Unsealed {
  return stored(VERDICT.encode(verdict), verdict.lists, verdict.predicted ?? null)
}

/** @param value what the space holds, unless it is 1 */
export function decodeVerdict(value: unknown, tx: Transaction): AuditRecord {
  const [verdict, lists, predicted] = value as Stored
  const allowed = VERDICT.decode(verdict, LISTS.decode(lists, null))
  const entry = { ...allowedEntry(tx, allowed), auditId: allowedAuditId(tx.txId) }
  return { ...entry, predicted: predictedIn(predicted) }
}

/** @returns a value to put in the space `audit` */
export function encodeAudit(entry: AuditRecord): Unsealed {
  return stored(ENTRY.encode(entry), entry.lists, entry.predicted)
}

export function decodeAudit(value: unknown): AuditRecord {
  const [entry, lists, predicted] = value as Stored
  return { ...ENTRY.decode(entry, LISTS.decode(lists, null)), predicted: predictedIn(predicted) }
}

function stored(
  entry: unknown,
  lists: AuditRecord['lists'],
  predicted: AuditRecord['predicted'],
): Unsealed {
  if (predicted === null) return packedPair(entry, bytesOf(lists))
  return packedRecord([entry, LISTS.encode(lists, null), PREDICTED.encode(predicted, null)])
}

function predictedIn(value: unknown): PredictedOutcome | null {
  return value === undefined ? null : PREDICTED.decode(value, null)
}

function bytesOf(lists: AuditRecord['lists']): Uint8Array {
  if (lists === null) return NO_LISTS
  const known = listsBytes.get(lists)
  if (known !== undefined) return known
  // A copy, because packed bytes lie in a block that many records share, and this value is kept for
  // long.
  const bytes = Uint8Array.from(packed(LISTS.encode(lists, null)))
  listsBytes.set(lists, bytes)
  return bytes
}
