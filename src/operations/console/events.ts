import type { TxId } from '../../domain/ids.js'
import type { Transaction } from '../../domain/transaction.js'
import { fault } from '../../errors/fault.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { pageOptions } from './page.js'
import { eventView } from './webhook-views.js'

/**
 * Reading on from each `next_after` yields every event of the user once and in order, or an error
 * that the next ones are no longer kept. Spec silent: without `after`, or with 0, the log begins at
 * its first kept event, which `log_starts_after` names.
 */
export function listEvents({
  reader,
  readableSeq,
}: OperationPorts): ConsoleHandlers['list_events'] {
  return ({ userId }, input) => {
    const { limit } = pageOptions(input)
    // The order matters: a snapshot older than the bound would lack events, which would then be
    // skipped.
    const readable = readableSeq(userId)
    const logStart = reader.fresh().events.logStart(userId)
    const asked = input.after ?? 0
    if (asked > 0 && asked < logStart) return { ok: false, fault: noLongerKept(asked, logStart) }
    const after = Math.max(asked, logStart)
    const transactionOf = once(reader.transactions.byId)
    const events: ReturnType<typeof eventView>[] = []
    let nextAfter = after
    const page = (hasMore: boolean) => ({
      ok: true as const,
      value: { events, next_after: nextAfter, has_more: hasMore, log_starts_after: logStart },
    })
    for (const event of reader.events.ofUser(userId, after, readable)) {
      if (events.length === limit) {
        return page(true)
      }
      events.push(eventView(event, transactionOf))
      nextAfter = event.seq
    }
    return page(false)
  }
}

function noLongerKept(after: number, logStart: number) {
  return fault(
    'INVALID_REQUEST',
    { after, log_starts_after: logStart },
    `Events up to ${logStart} are no longer kept, so some after ${after} would be missing. Continue after ${logStart}.`,
  )
}

/**
 * Reads a transaction once per page, because it is most of an event's cost, and one has several
 * events.
 */
function once(
  transactionOf: (id: TxId) => Transaction | undefined,
): (id: TxId) => Transaction | undefined {
  const known = new Map<TxId, Transaction>()
  return (id) => {
    const tx = known.get(id) ?? transactionOf(id)
    if (tx !== undefined) known.set(id, tx)
    return tx
  }
}
