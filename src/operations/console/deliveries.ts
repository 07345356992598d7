import { webhookEndpointAddress } from '../../../actors/addresses.js'
import type { DeliveryRecord } from '../../../actors/webhook-endpoint/core/delivery-record.js'
import type { StoredEvent } from '../../domain/event.js'
import { DEFAULT_EVENT_TYPES } from '../../domain/event-types.js'
import type { WebhookId } from '../../domain/ids.js'
import { QUOTAS_MAX } from '../../domain/quotas.js'
import type { WebhookEndpoint } from '../../domain/webhook.js'
import { ok, type Result } from '../../errors/fault.js'
import type { Reader } from '../../store/reader.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { ownedEvent, ownedWebhook } from './ownership.js'
import { pageOptions } from './page.js'
import { deliveryView } from './webhook-views.js'

export function listDeliveries({ reader }: OperationPorts): ConsoleHandlers['list_deliveries'] {
  return ({ userId }, input) => {
    const owned = ownedWebhook(reader, userId, input.webhook_id)
    if (!owned.ok) return owned
    const { webhookId } = owned.value
    const page = reader.deliveries.ofWebhook<DeliveryRecord>(webhookId, pageOptions(input))
    const deliveries = page.items.map((record) =>
      deliveryView(record, reader.events.byId(userId, record.eventId)),
    )
    return { ok: true, value: { deliveries, next_cursor: page.nextCursor } }
  }
}

/** An endpoint that has not reached the event in the log gets it in its turn. */
export function redeliverEvent(ports: OperationPorts): ConsoleHandlers['redeliver_event'] {
  const { reader, actors, nowMs } = ports
  return async ({ userId, requestId }, input) => {
    const event = ownedEvent(reader, userId, input.event_id)
    if (!event.ok) return event
    const targets = targetsOf(reader, event.value, input.webhook_id)
    if (!targets.ok) return targets
    const { eventId, seq, type: eventType } = event.value
    const command = {
      type: 'redeliver' as const,
      ...{ eventId, seq, eventType, requestId, nowMs: nowMs() },
    }
    const asked = await Promise.all(
      targets.value.map(async (target) => ({
        webhookId: target.webhookId,
        answer: await actors.ask(webhookEndpointAddress(target), command),
      })),
    )
    const refused = asked.find(({ answer }) => !answer.ok)
    // With several targets, one that was disabled or removed in the meantime is left out.
    if (refused !== undefined && !refused.answer.ok && asked.length === 1) return refused.answer
    const webhookIds = asked.filter(({ answer }) => answer.ok).map(({ webhookId }) => webhookId)
    return { ok: true, status: 202, value: { event_id: eventId, webhook_ids: webhookIds } }
  }
}

function targetsOf(
  reader: Reader,
  event: StoredEvent,
  asked: string | undefined,
): Result<readonly WebhookEndpoint[]> {
  // A test belongs to one endpoint, whatever the filters are.
  const only = asked ?? (event.type === 'webhook.test' ? String(event.data?.webhook_id) : undefined)
  if (only !== undefined) {
    const owned = ownedWebhook(reader, event.userId, only as WebhookId)
    return owned.ok ? ok([owned.value]) : owned
  }
  const all = reader.webhooks.ofUser(event.userId, { limit: QUOTAS_MAX.webhooks, cursor: null })
  return ok(
    all.items.filter(
      ({ status, events }) =>
        status === 'enabled' && (events ?? DEFAULT_EVENT_TYPES).includes(event.type),
    ),
  )
}
