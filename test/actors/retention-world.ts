import { randomBytes } from 'node:crypto'
import { createEventNeeds } from '../../actors/retention/event-needs.js'
import type { EndpointState } from '../../actors/webhook-endpoint/core/state.js'
import { toStored } from '../../actors/webhook-endpoint/stored-state.js'
import type { AuditRecord } from '../../src/domain/audit.js'
import type { NewEvent } from '../../src/domain/event.js'
import type { EventType } from '../../src/domain/event-types.js'
import {
  type AuditId,
  type EventId,
  ID_PREFIX,
  type TxId,
  type UserId,
  ulidBody,
  type WebhookId,
} from '../../src/domain/ids.js'
import { addPruned, DAY_MS, NOTHING_PRUNED, type Pruned } from '../../src/domain/retention.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import { prunePass } from '../../src/store/retention/prune-store.js'
import type { Mode } from '../../src/store/retention/step.js'
import type { RealStore } from './real-store.js'
import { USER_ID } from './wallet-fixtures.js'

export const NOW_MS = Date.UTC(2026, 5, 15, 12)
export const OLD_MS = NOW_MS - 40 * DAY_MS
export const YOUNG_MS = NOW_MS - 5 * DAY_MS
/** Everything that is older than 30 days. */
const RETENTION = {
  deliveriesMs: 30 * DAY_MS,
  eventsMs: 30 * DAY_MS,
  auditMs: 30 * DAY_MS,
}

export const OTHER = 'user_0000000000000000000000000Z' as UserId

/** @returns what the whole pass removed, and each of its steps */
export function prune(
  { environment, reader }: RealStore,
  mode: Mode = 'remove',
): Pruned & { readonly steps: readonly Pruned[] } {
  const context = { environment, reader, needs: createEventNeeds(reader) }
  const steps = [...prunePass(context, RETENTION, NOW_MS, mode)]
  reader.fresh()
  return { ...steps.reduce(addPruned, NOTHING_PRUNED), steps }
}

export function newEvent(atMs: number, said: Partial<NewEvent> = {}): NewEvent {
  return {
    eventId: null,
    userId: USER_ID,
    type: 'key.revoked',
    atMs,
    subWalletId: null,
    laneKey: null,
    data: { key_id: 'key_1' },
    ...said,
  }
}

/** One commit with so many events. */
export function appendEvents(
  store: RealStore,
  count: number,
  atMs: number,
  said: Partial<NewEvent> = {},
): Promise<void> {
  return store.write((writer) => {
    for (let n = 0; n < count; n++) writer.appendEvent(newEvent(atMs, said))
  })
}

export function seqsOf({ reader }: RealStore, user: UserId = USER_ID): number[] {
  return [...reader.events.ofUser(user, 0, Number.MAX_SAFE_INTEGER)].map(({ seq }) => seq)
}

export async function addEndpoint(
  store: RealStore,
  said: Partial<EndpointState>,
  events: readonly EventType[] = ['key.revoked'],
): Promise<WebhookId> {
  const webhookId = `${ID_PREFIX.webhook}${ulidBody(NOW_MS, randomBytes(10))}` as WebhookId
  const endpoint = {
    webhookId,
    userId: USER_ID,
    url: 'https://example.com/',
    events: [...events],
    kind: 'webhook' as const,
    description: null,
    status: 'enabled' as const,
    createdAtMs: OLD_MS,
    secrets: [],
  }
  const state: EndpointState = {
    endpoint,
    disabledBecause: null,
    cursor: 0,
    behind: false,
    feed: 'idle',
    pending: [],
    attemptsStarted: 0,
    ...said,
  }
  await store.write((writer) => {
    writer.putWebhook(endpoint)
    writer.putDeliveries(webhookId, toStored(state))
  })
  return webhookId
}

export function txIdAt(atMs: number): TxId {
  return `${ID_PREFIX.tx}${ulidBody(atMs, randomBytes(10))}` as TxId
}

export function eventIdOf(n: number): EventId {
  return `${ID_PREFIX.event}${String(n).padStart(26, '0')}` as EventId
}

export function entryAt(atMs: number, said: Partial<AuditRecord> = {}): AuditRecord {
  const auditId = `${ID_PREFIX.audit}${ulidBody(atMs, randomBytes(10))}` as AuditId
  const entry = auditEntry({ userId: USER_ID, atMs, type: 'send.refused', details: {} })
  return { ...entry, auditId, ...said }
}
