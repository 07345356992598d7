import type { AuditRecord } from '../domain/audit.js'
import { type AuditId, ID_PREFIX, type TxId, type UserId } from '../domain/ids.js'
import { decodeAudit } from './encodings/audit.js'
import type { Environment } from './environment.js'
import { newestFirst, type Page, type PageOptions, pageOf } from './pages.js'

/**
 * The audit trail as its readers see it: by user, newest first. The entry of a send that was
 * allowed lies in the index of its user's transactions, which is written with it anyway, and stands
 * where the send came in; all others have a space of their own.
 */
export function createAuditReader({ spaces }: Pick<Environment, 'spaces'>) {
  return {
    /** `wanted` filters; the page is filled by reading on, up to PAGE_SCAN_MAX records. */
    auditOfUser(
      user: UserId,
      { limit, cursor }: PageOptions,
      wanted: (record: AuditRecord) => boolean,
    ): Page<AuditRecord> {
      const own = newestFirst(spaces, 'audit', user, cursor)
      const sent = newestFirst(spaces, 'transactionsByUser', user, cursor && txIdIn(cursor))
      return pageOf(descending(own, entryIds(sent)), limit, (id) => {
        const stored =
          spaces.audit.get([user, id]) ?? spaces.transactionsByUser.get([user, txIdIn(id)])
        // The index holds 1 where there is no entry.
        const record = typeof stored === 'object' ? decodeAudit(stored) : undefined
        return record !== undefined && wanted(record) ? record : undefined
      })
    },
  }
}

/** The id of the entry that says why a transaction was let through: there is one of each. */
export function allowedAuditId(txId: TxId): AuditId {
  return (ID_PREFIX.audit + txId.slice(ID_PREFIX.tx.length)) as AuditId
}

function txIdIn(auditId: string): string {
  return ID_PREFIX.tx + auditId.slice(ID_PREFIX.audit.length)
}

function* entryIds(txIds: Iterable<string>): Generator<string> {
  for (const txId of txIds) yield allowedAuditId(txId as TxId)
}

/** Two lists that descend as one that does. */
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
    // A page ends before they do, and each holds a cursor and the snapshot that it reads.
    first.return(undefined)
    second.return(undefined)
  }
}
