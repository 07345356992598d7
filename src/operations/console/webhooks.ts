import { webhookEndpointAddress } from '../../../actors/addresses.js'
import type { ChangeCommand } from '../../../actors/webhook-endpoint/core/commands.js'
import { SECRET_OVERLAP_MS } from '../../../actors/webhook-endpoint/core/state.js'
import { DEFAULT_ALERT_TYPES } from '../../domain/event-types.js'
import { type EventId, ID_PREFIX, type WebhookId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import type { WebhookEndpoint } from '../../domain/webhook.js'
import { fault, refuse } from '../../errors/fault.js'
import { newId } from '../../store/new-id.js'
import { generateWebhookSecret } from '../../webhooks/signature.js'
import { validateWebhookUrl } from '../../webhooks/webhook-url.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { channelOf } from './alert-channels.js'
import { type Creation, creationId } from './created-once.js'
import { ownedWebhook } from './ownership.js'
import { pageOptions } from './page.js'
import { webhookView } from './webhook-views.js'

const NAMED = { operation: 'create_webhook', prefix: ID_PREFIX.webhook } as const

/** The secret is only in the first answer, so a person who did not receive it rotates it. */
export function webhookCreation({
  reader,
}: OperationPorts): Creation<ReturnType<typeof webhookView> & { secret: null }> {
  return {
    ...NAMED,
    newestBelow(userId, cursor) {
      const [newest] = reader.fresh().webhooks.ofUser(userId, { limit: 1, cursor }).items
      if (newest === undefined) return null
      return { id: newest.webhookId, value: { ...webhookView(newest), secret: null } }
    },
    isTaken: (id) => reader.webhooks.byId(id as WebhookId) !== undefined,
  }
}

export function createWebhook(ports: OperationPorts): ConsoleHandlers['create_webhook'] {
  const { actors, timers, nowMs, webhookTargets, mail, readableSeq } = ports
  return async (context, input) => {
    const { userId, personId: byPerson, requestId } = context
    const channel = channelOf(input, webhookTargets, mail)
    if (!channel.ok) return channel
    const { kind, url, secret } = channel.value
    const isWebhook = kind === 'webhook'
    const named = creationId(NAMED, context, input) as WebhookId | null
    const endpoint: Omit<WebhookEndpoint, 'secrets'> = {
      webhookId: named ?? newId<WebhookId>(ID_PREFIX.webhook, timers),
      userId,
      kind,
      url,
      events: input.events ?? (isWebhook ? null : DEFAULT_ALERT_TYPES),
      description: input.description ?? null,
      status: 'enabled',
      createdAtMs: nowMs(),
    }
    const cursor = readableSeq(userId)
    const command = {
      type: 'register',
      endpoint,
      secret,
      cursor,
      requestId,
      byPerson,
      nowMs: nowMs(),
    } as const
    const stored = await actors.ask(webhookEndpointAddress(endpoint), command)
    if (!stored.ok) return stored
    // An attempt that was abandoned has created it in between, with a secret of its own.
    const isNew = stored.value.createdAtMs === endpoint.createdAtMs
    return {
      ok: true,
      status: 201,
      value: { ...webhookView(stored.value), secret: isWebhook && isNew ? secret : null },
    }
  }
}

export function listWebhooks({ reader }: OperationPorts): ConsoleHandlers['list_webhooks'] {
  return ({ userId }, input) => {
    const { items, nextCursor } = reader.webhooks.ofUser(userId, pageOptions(input))
    return { ok: true, value: { webhooks: items.map(webhookView), next_cursor: nextCursor } }
  }
}

export function deleteWebhook(ports: OperationPorts): ConsoleHandlers['delete_webhook'] {
  const { reader, actors, nowMs } = ports
  return async ({ userId, personId: byPerson, requestId }, { webhook_id }) => {
    const owned = ownedWebhook(reader, userId, webhook_id)
    if (!owned.ok) return owned
    const command = { type: 'remove', requestId, byPerson, nowMs: nowMs() } as const
    const removed = await actors.ask(webhookEndpointAddress(owned.value), command)
    return removed.ok ? { ok: true, value: { deleted: true } } : removed
  }
}

export function patchWebhook(ports: OperationPorts): ConsoleHandlers['patch_webhook'] {
  const { reader, actors, nowMs, webhookTargets } = ports
  return async ({ userId, personId: byPerson, requestId }, input) => {
    const owned = ownedWebhook(reader, userId, input.webhook_id)
    if (!owned.ok) return owned
    if (input.url !== undefined && owned.value.kind !== 'webhook') return notAWebhook()
    const url = input.url === undefined ? null : validateWebhookUrl(input.url, webhookTargets)
    if (url !== null && !url.ok) return url
    const changes: ChangeCommand['changes'] = {
      ...(url === null ? {} : { url: url.value }),
      ...(input.events === undefined ? {} : { events: input.events }),
      ...(input.description === undefined ? {} : { description: input.description }),
      ...(input.status === undefined ? {} : { status: input.status }),
    }
    const command = { type: 'change', changes, requestId, byPerson, nowMs: nowMs() } as const
    const changed = await actors.ask(webhookEndpointAddress(owned.value), command)
    return changed.ok ? { ok: true, value: webhookView(changed.value) } : changed
  }
}

/** The event and the delivery it begins are stored together, so an answered test is always sent. */
export function testWebhook(ports: OperationPorts): ConsoleHandlers['test_webhook'] {
  const { reader, actors, timers, nowMs } = ports
  return async ({ userId, personId: byPerson, requestId }, { webhook_id }) => {
    const owned = ownedWebhook(reader, userId, webhook_id)
    if (!owned.ok) return owned
    const eventId = newId<EventId>(ID_PREFIX.event, timers)
    const command = { type: 'test', eventId, requestId, byPerson, nowMs: nowMs() } as const
    const begun = await actors.ask(webhookEndpointAddress(owned.value), command)
    if (!begun.ok) return begun
    return {
      ok: true,
      status: 202,
      value: { webhook_id: owned.value.webhookId, event_id: eventId },
    }
  }
}

export function rotateWebhookSecret(
  ports: OperationPorts,
): ConsoleHandlers['rotate_webhook_secret'] {
  const { reader, actors, nowMs } = ports
  return async ({ userId, personId: byPerson, requestId }, { webhook_id }) => {
    const owned = ownedWebhook(reader, userId, webhook_id)
    if (!owned.ok) return owned
    if (owned.value.kind !== 'webhook') return notAWebhook()
    const secret = generateWebhookSecret()
    const now = nowMs()
    const command = { type: 'rotate-secret', secret, requestId, byPerson, nowMs: now } as const
    const rotated = await actors.ask(webhookEndpointAddress(owned.value), command)
    if (!rotated.ok) return rotated
    const value = {
      ...webhookView(rotated.value),
      secret,
      previous_secrets_expire_at: isoTime(now + SECRET_OVERLAP_MS),
    }
    return { ok: true, value }
  }
}

/** An alert channel's address is part of its secret, so another address is another channel. */
function notAWebhook() {
  const words =
    'The address of an alert channel cannot be changed. Remove the channel and create another.'
  return refuse(fault('INVALID_REQUEST', {}, words))
}
