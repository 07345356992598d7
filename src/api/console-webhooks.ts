import { z } from 'zod'
import { label, listCursor, listLimit, nextCursor, timestamp } from './primitives.js'

/** Webhook endpoints, their deliveries, and the event log (CONTRACT.md, "Events and webhooks"). */

export const eventType = z.enum([
  'transaction.broadcast',
  'transaction.confirmed',
  'transaction.failed',
  'transaction.dropped',
  'key.rotated',
  'key.revoked',
  'limit.reached',
  'user.frozen',
  'user.unfrozen',
  'wallet.frozen',
  'wallet.unfrozen',
  'key.frozen',
  'key.unfrozen',
  'approval.requested',
  'approval.approved',
  'approval.declined',
  'approval.expired',
  'webhook.test',
])

/** Each of them once, and room for some to come. */
const EVENT_TYPES_MAX = 32

const endpointKind = z
  .enum(['webhook', 'slack', 'telegram', 'ntfy', 'email'])
  .describe(
    'webhook: signed JSON for a program; the others tell people, in the form that these services take',
  )

export const createWebhookInput = z.strictObject({
  kind: endpointKind.optional(),
  url: z
    .string()
    .min(1)
    .max(2_048)
    .optional()
    .describe(
      'slack: the incoming webhook, of which only the origin is shown again; ntfy: the topic; telegram: of its Bot API, where it is another',
    ),
  chat_id: z.string().min(1).max(64).optional().describe('telegram: who is told'),
  token: z
    .string()
    .regex(/^[\w:.-]{1,256}$/, 'must be a token')
    .optional()
    .describe('telegram: of the bot; ntfy: where the topic wants one; never shown again'),
  email: z.email().max(254).optional().describe('email: who is told, by the operator’s server'),
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
    .describe('of a webhook, shown once; null of the other kinds, and in an answer given again'),
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
  previous_secrets_expire_at: timestamp.describe('until then the old secrets sign along'),
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
      'of the event in the log: list_events after one less has what was sent; null when it is no longer kept',
    ),
  type: eventType.nullable(),
  status: z.enum(['pending', 'delivered', 'exhausted', 'gone']),
  attempt_count: z.int().describe('all ever started'),
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
  webhook_ids: z.array(z.string()).describe('endpoints that it goes to again'),
})

export const listEventsInput = z.strictObject({
  after: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe(
      'a seq; default 0, the beginning of what is kept. One before that, but for 0, is refused',
    ),
  limit: listLimit.optional(),
})
export const eventRecord = z.looseObject({
  seq: z.int(),
  event_id: z.string(),
  type: eventType,
  timestamp,
  data: z.record(z.string(), z.unknown()).describe('as the webhook of that type has it'),
})
export const eventPage = z.looseObject({
  events: z.array(eventRecord),
  next_after: z.int().describe('`after` of the next page'),
  has_more: z.boolean(),
  log_starts_after: z
    .int()
    .describe('seq of the last event that is no longer kept; 0 when all are'),
})
