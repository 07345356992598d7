import type { DeliveryRecord } from '../../../actors/webhook-endpoint/core/delivery-record.js'
import { eventData } from '../../api/event-data.js'
import type { StoredEvent } from '../../domain/event.js'
import { isoTime } from '../../domain/iso-time.js'
import type { WebhookEndpoint } from '../../domain/webhook.js'
import type { Reader } from '../../store/reader.js'

export function webhookView(endpoint: Omit<WebhookEndpoint, 'secrets'>) {
  return {
    webhook_id: endpoint.webhookId,
    kind: endpoint.kind,
    url: endpoint.url,
    events: endpoint.events === null ? null : [...endpoint.events],
    description: endpoint.description,
    status: endpoint.status,
    created_at: isoTime(endpoint.createdAtMs),
  }
}

/** @param event undefined if it is not in the log; a test's record does not know its place */
export function deliveryView(
  record: DeliveryRecord,
  event: Pick<StoredEvent, 'seq' | 'type'> | undefined,
) {
  return {
    event_id: record.eventId,
    seq: event?.seq ?? null,
    type: event?.type ?? null,
    status: record.status,
    attempt_count: record.attemptCount,
    attempts: record.attempts.map(({ atMs, status, error, durationMs }) => ({
      at: isoTime(atMs),
      status,
      error,
      duration_ms: durationMs,
    })),
    next_try_at: record.nextTryAtMs === null ? null : isoTime(record.nextTryAtMs),
    created_at: isoTime(record.createdAtMs),
    updated_at: isoTime(record.updatedAtMs),
  }
}

export function eventView(event: StoredEvent, transactionOf: Reader['transactions']['byId']) {
  const { seq, eventId, type, atMs } = event
  const data = eventData(event, transactionOf)
  return { seq, event_id: eventId, type, timestamp: isoTime(atMs), data }
}
