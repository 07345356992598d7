import type { NewEvent } from '../domain/event.js'
import { isoTime } from '../domain/iso-time.js'

/**
 * The JSON of a delivery (CONTRACT.md, "Events and webhooks"). Every attempt sends the same bytes.
 * @param data the event's data, in its wire form
 */
export function deliveryBody(
  event: Pick<NewEvent, 'type' | 'atMs'>,
  data: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({
    type: event.type,
    timestamp: isoTime(event.atMs),
    data,
  })
}
