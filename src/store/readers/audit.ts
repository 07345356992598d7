import type { AuditRecord, AuditType } from '../../domain/audit.js'
import { ENTROPY_BYTES, ID_PREFIX, type TxId, type UserId, ulidBody } from '../../domain/ids.js'
import { allowedAuditId, allowedTxId } from '../allowed-entry.js'
import { decodeAudit, decodeVerdict } from '../encodings/audit.js'
import type { Environment } from '../environment.js'
import { newestFirst, type Page, type PageOptions, pageOf } from '../pages.js'
import { countScannedRow } from '../rows-scanned.js'
import type { TransactionReader } from './transactions.js'

/**
 * Reads the audit trail of a user, newest first. The entry of an allowed send lies in the index of
 * its user's transactions, which is written with the send anyway; all other entries have a separate
 * space.
 */
export interface AuditReader {
  /**
   * Filters with `wanted`; reads on until the page is full, up to PAGE_SCAN_MAX records.
   * @param type the type of all wanted entries, if there is one; entries stored elsewhere are then
   * not scanned
   */
  ofUser(
    user: UserId,
    options: PageOptions,
    wanted: (record: AuditRecord) => boolean,
    type?: AuditType,
  ): Page<AuditRecord>
  /** The entry of an allowed send; undefined if it was pruned or never written. */
  allowed(user: UserId, id: TxId): AuditRecord | undefined
  /** All entries except those of allowed sends, newest first, from `fromMs` to `untilMs`. */
  between(user: UserId, fromMs: number, untilMs: number): Generator<AuditRecord>
}

export function createAuditReader(
  { spaces }: Pick<Environment, 'spaces'>,
  transactions: TransactionReader,
): AuditReader {
  return {
    ofUser(user, { limit, cursor }, wanted, type) {
      const own = newestFirst(spaces, 'audit', user, cursor)
      const sent = () =>
        entryIds(newestFirst(spaces, 'transactionsByUser', user, cursor && allowedTxId(cursor)))
      const ids =
        type === undefined ? descending(own, sent()) : type === 'send.allowed' ? sent() : own
      return pageOf(ids, limit, (id) => {
        const record = entry(user, id)
        return record !== null && wanted(record) ? record : undefined
      })
    },
    allowed: (user, id) => entry(user, allowedAuditId(id)) ?? undefined,
    *between(user, fromMs, untilMs) {
      const range = { start: [user, idAt(untilMs + 1)], end: [user, idAt(fromMs)], reverse: true }
      for (const { value } of spaces.audit.getRange(range)) {
        countScannedRow()
        yield decodeAudit(value)
      }
    },
  }

  function entry(user: UserId, id: string): AuditRecord | null {
    const stored = spaces.audit.get([user, id])
    if (stored !== undefined) return decodeAudit(stored)
    const txId = allowedTxId(id)
    const verdict = spaces.transactionsByUser.get([user, txId])
    // The index holds 1 for a transaction without a verdict.
    const tx = typeof verdict === 'object' ? transactions.byId(txId) : undefined
    return tx === undefined ? null : decodeVerdict(verdict, tx)
  }
}

/** An id that sorts before those of entries at that time, and after those of earlier ones. */
function idAt(atMs: number): string {
  return ID_PREFIX.audit + ulidBody(Math.max(0, atMs), NO_ENTROPY)
}

const NO_ENTROPY = new Uint8Array(ENTROPY_BYTES)

function* entryIds(txIds: Iterable<string>): Generator<string> {
  for (const txId of txIds) yield allowedAuditId(txId as TxId)
}

/** Merges two descending lists into one. */
function* descending(first: Generator<string>, second: Generator<string>): Generator<string> {
  try {
    let a = first.next()
    let b = second.next()
    while (a.done !== true || b.done !== true) {
      if (b.done === true || (a.done !== true && a.value > b.value)) {
        yield a.value
        a = first.next()
      } else {
        yield b.value
        b = second.next()
      }
    }
  } finally {
    // A page ends before the generators do, and each holds a cursor and its snapshot.
    first.return(undefined)
    second.return(undefined)
  }
}
