import type { Approval } from '../../domain/approval.js'
import type { AuditRecord } from '../../domain/audit.js'
import type { StoredEvent } from '../../domain/event.js'
import { type TxId, timeOfId, type UserId } from '../../domain/ids.js'
import type { Transaction } from '../../domain/transaction.js'
import type { Reader } from '../../store/reader.js'

/**
 * Finds events and audit entries of one transaction, which no index names. They are searched near
 * the times at which something happened to it, according to its record and its approval's.
 */

/** Hosts' clocks differ, and entries are written a little later than they happen. */
const EARLIER_MS = 2_000
const LATER_MS = 5_000
/**
 * If the transaction was final within this time, all of it is searched, because a node may have
 * accepted it at any moment.
 */
const WHOLE_MAX_MS = 600_000
/** Entries of the user that are scanned for one transaction; tens of milliseconds. */
const ROWS_SCANNED_MAX = 5_000

interface Span {
  readonly fromMs: number
  untilMs: number
}

/** Oldest first. */
export function eventsOf(
  reader: Pick<Reader, 'events'>,
  tx: Transaction,
  approval: Approval | null,
  readableSeq: number,
): StoredEvent[] {
  const { userId, txId } = tx
  const found: StoredEvent[] = []
  let seen = 0
  let after = 0
  for (const { fromMs, untilMs } of spansOf(tx, approval)) {
    after = Math.max(after, reader.events.placeBefore(userId, fromMs, readableSeq))
    for (const event of reader.events.ofUser(userId, after, readableSeq)) {
      if (event.atMs > untilMs || seen++ === ROWS_SCANNED_MAX) break
      after = event.seq
      if (event.moment?.txId === txId || event.data?.tx_id === txId) found.push(event)
    }
  }
  return found
}

/** Newest first. Also finds the entries of a refused send, for which no record exists. */
export function entriesOf(reader: Reader, userId: UserId, txId: TxId): AuditRecord[] {
  const tx = reader.transactions.byId(txId)
  const own = tx?.userId === userId ? tx : undefined
  const approvalId = own?.approval?.approvalId
  const approval = approvalId === undefined ? null : reader.approvals.byId(userId, approvalId)
  const spans = own === undefined ? refusedSpans(txId) : spansOf(own, approval ?? null)
  const found = new Map<string, AuditRecord>()
  const allowed = own === undefined ? undefined : reader.audit.allowed(userId, txId)
  if (allowed !== undefined) found.set(allowed.auditId, allowed)
  let seen = 0
  for (const { fromMs, untilMs } of spans) {
    for (const record of reader.audit.between(userId, fromMs, untilMs)) {
      if (seen++ === ROWS_SCANNED_MAX) break
      if (record.txId === txId) found.set(record.auditId, record)
    }
  }
  return [...found.values()].sort((a, b) => b.atMs - a.atMs || (a.auditId < b.auditId ? 1 : -1))
}

/** A send is refused within its request, whose simulation may take some seconds. */
function refusedSpans(txId: TxId): Span[] {
  try {
    const atMs = timeOfId(txId)
    return [{ fromMs: atMs - EARLIER_MS, untilMs: atMs + 60_000 }]
  } catch (error) {
    if (error instanceof RangeError) return []
    throw error
  }
}

/** In order and without overlaps. */
function spansOf(tx: Transaction, approval: Approval | null): Span[] {
  const { createdAtMs, updatedAtMs, confirmedAtMs, attempts } = tx
  const moments = [createdAtMs, updatedAtMs, ...attempts.map(({ signedAtMs }) => signedAtMs)]
  if (confirmedAtMs !== null) moments.push(confirmedAtMs)
  if (approval !== null) {
    moments.push(approval.requestedAtMs, ...approval.decisions.map(({ atMs }) => atMs))
    moments.push(approval.decidedAtMs ?? approval.expiresAtMs)
  }
  moments.sort((a, b) => a - b)
  const spans: Span[] = []
  for (const atMs of moments) {
    const last = spans.at(-1)
    const reach = spans.length === 1 ? WHOLE_MAX_MS : EARLIER_MS
    if (last !== undefined && atMs - reach <= last.untilMs) last.untilMs = atMs + LATER_MS
    else spans.push({ fromMs: atMs - EARLIER_MS, untilMs: atMs + LATER_MS })
  }
  return spans
}
