import type { TxId } from '../../domain/ids.js'
import type { Transaction } from '../../domain/transaction.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { pageOptions } from './page.js'
import { eventView } from './webhook-views.js'

/** Whoever reads on from each `next_after` sees every event of theirs, once and in order. */
export function listEvents({
  reader,
  readableSeq,
}: OperationPorts): ConsoleHandlers['list_events'] {
  return ({ userId }, input) => {
    const after = input.after ?? 0
    const { limit } = pageOptions(input)
    // In this order: a snapshot older than the bound would lack events, and they would be skipped.
    const readable = readableSeq()
    reader.refresh()
    const transactionOf = once(reader.transaction)
    const events = []
    let nextAfter = after
    for (const event of reader.eventsOfUser(userId, after, readable)) {
      if (events.length === limit) {
        return { ok: true, value: { events, next_after: nextAfter, has_more: true } }
      }
      events.push(eventView(event, transactionOf))
      nextAfter = event.seq
    }
    return { ok: true, value: { events, next_after: nextAfter, has_more: false } }
  }
}

/** Reads a transaction once a page: that is most of an event's cost, and one has several events. */
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
