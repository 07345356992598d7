import { ID_PREFIX, type WebhookId } from '../../domain/ids.js'
import type { WebhookEndpoint } from '../../domain/webhook.js'
import { fault } from '../../errors/fault.js'
import { newId } from '../../store/new-id.js'
import { generateWebhookSecret } from '../../webhooks/signature.js'
import { validateWebhookUrl } from '../../webhooks/webhook-url.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { ownedWebhook } from './ownership.js'
import { pageOptions } from './page.js'
import { webhookView } from './views.js'

/** Endpoints of one user; each new event looks at all of them. */
export const WEBHOOKS_PER_USER_MAX = 100

export function createWebhook(ports: OperationPorts): ConsoleHandlers['create_webhook'] {
  const { reader, actors, nowMs, webhookTargets, readableSeq } = ports
  return async ({ userId }, input) => {
    const url = validateWebhookUrl(input.url, webhookTargets)
    if (!url.ok) return url
    const all = reader.webhooksOfUser(userId, { limit: WEBHOOKS_PER_USER_MAX, cursor: null })
    if (all.items.length >= WEBHOOKS_PER_USER_MAX) {
      const message = `At most ${WEBHOOKS_PER_USER_MAX} webhook endpoints; delete one first.`
      const details = { webhooks_max: WEBHOOKS_PER_USER_MAX }
      return { ok: false, fault: fault('INVALID_REQUEST', details, message) }
    }
    const secret = generateWebhookSecret()
    const endpoint: WebhookEndpoint = {
      webhookId: newId<WebhookId>(ID_PREFIX.webhook),
      userId,
      url: url.value,
      events: input.events ?? null,
      description: input.description ?? null,
      status: 'enabled',
      createdAtMs: nowMs(),
      secrets: [{ secret, expiresAtMs: null }],
    }
    const command = { type: 'register', endpoint, cursor: readableSeq(), nowMs: nowMs() }
    const stored = await actors.ask({ kind: 'webhook-endpoint', id: endpoint.webhookId }, command)
    if (!stored.ok) return stored
    return { ok: true, status: 201, value: { ...webhookView(endpoint), secret } }
  }
}

export function listWebhooks({ reader }: OperationPorts): ConsoleHandlers['list_webhooks'] {
  return ({ userId }, input) => {
    const { items, nextCursor } = reader.webhooksOfUser(userId, pageOptions(input))
    return { ok: true, value: { webhooks: items.map(webhookView), next_cursor: nextCursor } }
  }
}

export function deleteWebhook(ports: OperationPorts): ConsoleHandlers['delete_webhook'] {
  const { reader, actors, nowMs } = ports
  return async ({ userId }, { webhook_id }) => {
    const owned = ownedWebhook(reader, userId, webhook_id)
    if (!owned.ok) return owned
    const address = { kind: 'webhook-endpoint', id: owned.value.webhookId } as const
    const removed = await actors.ask(address, { type: 'remove', nowMs: nowMs() })
    return removed.ok ? { ok: true, value: { deleted: true } } : removed
  }
}
