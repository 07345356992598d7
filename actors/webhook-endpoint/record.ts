import type { AuditType, NewAuditRecord } from '../../src/domain/audit.js'
import type { NewEvent } from '../../src/domain/event.js'
import type { WebhookId } from '../../src/domain/ids.js'
import type { WebhookEndpoint } from '../../src/domain/webhook.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import type { Writer } from '../../src/store/writer.js'
import { isRepeatable } from './core/checkpoint.js'
import type { Asker } from './core/commands.js'
import type { EndpointEvent } from './core/events.js'
import type { EndpointState } from './core/state.js'
import type { DeliveryHistory } from './delivery-history.js'
import { toStored } from './stored-state.js'

/** The runtime owns one object per actor; the endpoint's state is a value inside it. */
export interface Holder {
  readonly id: WebhookId
  state: EndpointState | null
  /** The endpoint in its last form; it outlives its removal. */
  endpoint: WebhookEndpoint | null
  readonly history: DeliveryHistory
  /** True when there is progress since the state was written. */
  unsaved: boolean
  /** The decision whose alarm is set; an earlier decision sets none. */
  wokenBy: number
  /** The origin of the present command, for the audit trail. */
  asker: Asker
}

/**
 * Writes what events changed: the state, the endpoint as lists show it, the history and the audit
 * trail.
 */
export function recordEvents(
  writer: Writer,
  holder: Holder,
  events: readonly EndpointEvent[],
): void {
  const { state, id, history, endpoint } = holder
  if (endpoint === null) return
  for (const event of events) {
    const audit = auditOf(endpoint, event, holder.asker)
    if (audit !== null) writer.appendAudit(audit)
    if (event.type === 'delivery-requested' && event.origin === 'test') {
      writer.appendEvent(testEvent(endpoint, event))
    }
  }
  if (state === null) {
    history.removeAll(writer)
    writer.deleteWebhook(id, endpoint.userId)
    return
  }
  history.fold(events)
  if (events.every(isRepeatable)) {
    holder.unsaved = true
    return
  }
  history.save(writer)
  if (events.some(({ type }) => ENDPOINT_CHANGES.has(type))) writer.putWebhook(endpoint)
  writer.putDeliveries(id, toStored(state))
  holder.unsaved = false
}

const ENDPOINT_CHANGES: ReadonlySet<EndpointEvent['type']> = new Set([
  'registered',
  'changed',
  'enabled',
  'disabled',
  'secrets-set',
] as const)

function testEvent(
  { userId, webhookId }: WebhookEndpoint,
  { eventId, atMs }: Extract<EndpointEvent, { type: 'delivery-requested' }>,
): NewEvent {
  return {
    eventId,
    userId,
    type: 'webhook.test',
    atMs,
    subWalletId: null,
    laneKey: null,
    data: { webhook_id: webhookId },
  }
}

const AUDIT_TYPES: Partial<Record<EndpointEvent['type'], AuditType>> = {
  registered: 'webhook.created',
  changed: 'webhook.changed',
  enabled: 'webhook.enabled',
  disabled: 'webhook.disabled',
  removed: 'webhook.removed',
  'secrets-set': 'webhook.secret_rotated',
}

function auditOf(
  { webhookId, userId, url, events }: WebhookEndpoint,
  event: EndpointEvent,
  { requestId, byPerson }: Asker,
): NewAuditRecord | null {
  const type = AUDIT_TYPES[event.type]
  if (type === undefined) return null
  const details = {
    webhook_id: webhookId,
    // The origin only: path and query of such URLs often carry a token.
    origin: new URL(url).origin,
    events,
    ...(event.type === 'disabled' ? { because: event.because } : {}),
    ...(byPerson === undefined ? {} : { by_person: byPerson }),
  }
  return auditEntry({ userId, atMs: event.atMs, type, requestId: requestId ?? null, details })
}
