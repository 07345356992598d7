import { ASKED_AGAIN } from '../domain/approval.js'
import { EVENT_TYPES, type EventShape, type EventType, eventRow } from '../domain/event-types.js'
import { RECORDED_EVENTS } from './generated/recorded-examples.js'
import type { JsonSchema, JsonValue } from './json-schema.js'
import { CONFIRMED } from './openapi-answers.js'
import { exampleOf, TIME } from './openapi-examples.js'

/**
 * The deliveries that an endpoint receives, as OpenAPI's `webhooks` (CONTRACT.md, "Events and
 * webhooks").
 */

const text = (description?: string): JsonSchema =>
  description === undefined ? { type: 'string' } : { type: 'string', description }

function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: true,
  }
}

const TRANSACTION: JsonSchema = { $ref: '#/components/schemas/Transaction' }

const KEY = objectOf({
  key_id: text('the key; the old one of a rotation'),
  name: text(),
  sub_wallet_id: text(),
  rotated_from: { type: ['string', 'null'], description: 'the key that it replaced' },
})

function frozen(...names: readonly string[]): JsonSchema {
  return objectOf({
    ...Object.fromEntries(names.map((name) => [name, text()])),
    since: text('when it was frozen'),
    reason: { type: ['string', 'null'] },
    by: { type: 'string', enum: ['user', 'breaker', 'operator'] },
  })
}

const APPROVAL = objectOf({
  approval_id: text(),
  tx_id: text(),
  key_id: text(),
  sub_wallet_id: text(),
  status: text('pending, approved, declined or expired'),
  rule: text("the policy's rule that asks, or default"),
  needed: { type: 'integer', description: 'distinct people; 0 where it only waits for its time' },
  approved_by: { type: 'array', items: { type: 'string' } },
  url: { type: ['string', 'null'], description: 'page on which people approve' },
  operation: text(),
  chain_id: { type: 'integer' },
  to: text('of a sponsored call its venue'),
  value: text('wei'),
  selector: text('the first four bytes of the calldata; 0x of a plain transfer'),
  spend_usd: text('what is reserved'),
  max_native_wei: text('the most that its gas may cost, wei'),
  asked_again: { type: ['string', 'null'], enum: [...ASKED_AGAIN, null] },
  comment: { type: ['string', 'null'] },
  requested_at: text(),
  expires_at: text(),
})

/** `data` by its shape. */
const DATA: Readonly<Record<EventShape, JsonSchema>> = {
  transaction: TRANSACTION,
  key: KEY,
  limit: objectOf({
    key_id: text(),
    sub_wallet_id: text(),
    period: { type: 'string', enum: ['daily', 'monthly'] },
    percent: { type: 'integer', enum: [80, 100] },
    limit_usd: text(),
    used_usd: text(),
  }),
  user_freeze: frozen('user_id'),
  wallet_freeze: frozen('sub_wallet_id'),
  key_freeze: frozen('key_id', 'sub_wallet_id'),
  approval: APPROVAL,
  endpoint: objectOf({ webhook_id: text() }),
}

/** What the example of an event that no run recorded has of its own. */
const EXAMPLES: Partial<Record<EventType, Readonly<Record<string, JsonValue>>>> = {
  'transaction.failed': {
    ...CONFIRMED,
    status: 'failed',
    confirmations: 1,
    spend_usd: '0.01',
    confirmed_at: null,
    error: { code: 'EXECUTION_REVERTED', message: 'The transaction was mined and reverted.' },
  },
  'transaction.dropped': {
    status: 'dropped',
    error: {
      code: 'CHAIN_REJECTED',
      message: 'The chain kept refusing the transaction; its nonce was used up without it.',
    },
  },
}

const HEADERS: readonly JsonSchema[] = [
  {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'The event. A delivery may arrive twice: store the id and process each once.',
    schema: { type: 'string' },
    example: 'evt_01KAJ5Q4Z7R8M2V9C3T6W1X0YB',
  },
  {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description:
      'When this attempt was signed, seconds since the epoch; refuse what is older than 5 minutes.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1763631000',
  },
  {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      'Standard Webhooks: space-separated `v1,` and the base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body as it came}`, with the bytes that follow `whsec_` in base64 as the key. Any one that fits will do: two secrets sign for 24 hours after a rotation.',
    schema: { type: 'string' },
    example: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
]

const RESPONSES: JsonSchema = {
  '2XX': { description: 'Delivered, if the answer arrives within 10 seconds.' },
  '410': { description: 'The endpoint is gone: it is disabled.' },
  default: {
    description:
      'Tried again after about 5 s, 30 s, 2 min, 15 min, 1 h, 4 h, 12 h and 24 h. Redirects are not followed.',
  },
}

/** @param components the components that describe the transaction */
export function webhooks(components: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return Object.fromEntries(EVENT_TYPES.map((type) => [type, { post: delivery(type, components) }]))
}

function delivery(type: EventType, components: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const { when, data: shape } = eventRow(type)
  const data = DATA[shape]
  const composed = exampleOf(data, components) as Readonly<Record<string, JsonValue>>
  const recorded = RECORDED_EVENTS[type]
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      type: { type: 'string', const: type },
      timestamp: { type: 'string', description: 'when it happened; the same in each attempt' },
      data,
    },
    required: ['type', 'timestamp', 'data'],
  }
  return {
    operationId: type.replace('.', '_'),
    summary: type,
    description: when,
    tags: ['Webhooks'],
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema,
          example: { type, timestamp: TIME, data: recorded ?? { ...composed, ...EXAMPLES[type] } },
        },
      },
    },
    responses: RESPONSES,
  }
}
