import { z } from 'zod'
import { EVENT_TYPES } from '../domain/event-types.js'
import { label, listCursor, listLimit, nextCursor, timestamp } from './primitives.js'

/** Webhook endpoints, their deliveries, and the event log (CONTRACT.md, "Events and webhooks"). */

export const eventType = z.enum(EVENT_TYPES)

/** Room for every type once, and for some future ones. */
const EVENT_TYPES_MAX = 32

const endpointKind = z
  .enum(['webhook', 'slack', 'telegram', 'ntfy', 'email'])
  .describe(
    'webhook: signed JSON for a program; the others alert people, in the form of these services',
  )

export const createWebhookInput = z.strictObject({
  kind: endpointKind.optional(),
  url: z
    .string()
    .min(1)
    .max(2_048)
    .optional()
    .describe(
      'slack: the incoming webhook, of which only the origin is shown later; ntfy: the topic; telegram: the Bot API, if not the default',
    ),
  chat_id: z.string().min(1).max(64).optional().describe('telegram: the chat to alert'),
  token: z
    .string()
    .regex(/^[\w:.-]{1,256}$/, 'must be a token')
    .optional()
    .describe('telegram: token of the bot; ntfy: token of the topic, if needed; never shown'),
  email: z
    .email()
    .max(254)
    .optional()
    .describe('email: the address to alert, by the operator’s server'),
  events: z.array(eventType).min(1).max(EVENT_TYPES_MAX).optional(),
  description: label.optional(),
})
export const webhook = z.looseObject({
  webhook_id: z.string(),
  kind: endpointKind,
  url: z.string(),
  events: z.array(eventType).nullable(),
  description: z.string().nullable(),
  status: z.enum(['enabled', 'disabled']),
  created_at: timestamp,
})
export const createdWebhook = webhook.extend({
  secret: z
    .string()
    .nullable()
    .describe('secret of a webhook, shown once; null for other kinds and repeated answers'),
})
export const webhookList = z.looseObject({
  webhooks: z.array(webhook),
  next_cursor: nextCursor,
})
export const webhookIdInput = z.strictObject({ webhook_id: z.string().max(64) })
const eventFilter = z.array(eventType).min(1).max(EVENT_TYPES_MAX)
export const patchWebhookInput = z.strictObject({
  webhook_id: z.string().max(64),
  url: z.string().min(1).max(2_048).optional(),
  events: eventFilter.nullable().optional().describe('null: confirmed, failed and dropped'),
  description: label.nullable().optional(),
  status: z.enum(['enabled', 'disabled']).optional(),
})

export const rotatedWebhook = createdWebhook.extend({
  previous_secrets_expire_at: timestamp.describe('until then the old secrets sign too'),
})

export const testedWebhook = z.looseObject({ webhook_id: z.string(), event_id: z.string() })

export const listDeliveriesInput = z.strictObject({
  webhook_id: z.string().max(64),
  limit: listLimit.optional(),
  cursor: listCursor.optional(),
})
export const deliveryRecord = z.looseObject({
  event_id: z.string(),
  seq: z
    .int()
    .nullable()
    .describe(
      'place in the log; list_events after one less has the event; null if no longer stored',
    ),
  type: eventType.nullable(),
  status: z.enum(['pending', 'delivered', 'exhausted', 'gone']),
  attempt_count: z.int().describe('all attempts so far'),
  attempts: z
    .array(
      z.looseObject({
        at: timestamp,
        status: z.int().nullable().describe('HTTP status; null when no response came'),
        error: z.string().nullable(),
        duration_ms: z.int(),
      }),
    )
    .describe('the latest 10, oldest first'),
  next_try_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
})
export const deliveryList = z.looseObject({
  deliveries: z.array(deliveryRecord),
  next_cursor: nextCursor,
})

export const redeliverInput = z.strictObject({
  event_id: z.string().max(64),
  webhook_id: z
    .string()
    .max(64)
    .optional()
    .describe('default: every enabled endpoint that wants events of this type'),
})
export const redelivered = z.looseObject({
  event_id: z.string(),
  webhook_ids: z.array(z.string()).describe('endpoints that receive it again'),
})

export const listEventsInput = z.strictObject({
  after: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('a seq; default 0, the first stored event. An earlier seq other than 0 is refused'),
  limit: listLimit.optional(),
})
export const eventRecord = z.looseObject({
  seq: z.int(),
  event_id: z.string(),
  type: eventType,
  timestamp,
  data: z.record(z.string(), z.unknown()).describe('as in the webhook of that type'),
})
export const eventPage = z.looseObject({
  events: z.array(eventRecord),
  next_after: z.int().describe('`after` of the next page'),
  has_more: z.boolean(),
  log_starts_after: z.int().describe('seq of the last event that was removed; 0 if none was'),
})
