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
    const events = []
    let nextAfter = after
    for (const event of reader.eventsOfUser(userId, after, readable)) {
      if (events.length === limit) {
        return { ok: true, value: { events, next_after: nextAfter, has_more: true } }
      }
      events.push(eventView(event, reader.transaction))
      nextAfter = event.seq
    }
    return { ok: true, value: { events, next_after: nextAfter, has_more: false } }
  }
}
