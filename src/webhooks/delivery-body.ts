import type { NewEvent } from '../domain/event.js'

/**
 * The JSON of a delivery (API.md "Events and webhooks"). It depends on the stored event alone,
 * so every attempt sends the same bytes.
 */
export function deliveryBody(event: NewEvent): string {
  return JSON.stringify({
    type: event.type,
    timestamp: new Date(event.atMs).toISOString(),
    data: event.data,
  })
}
