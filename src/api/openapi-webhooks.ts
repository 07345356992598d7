import type { z } from 'zod'
import { ASKED_AGAIN } from '../domain/approval.js'
import { eventType } from './console-webhooks.js'
import type { JsonSchema, JsonValue } from './json-schema.js'
import { CONFIRMED } from './openapi-answers.js'
import { exampleOf, TIME } from './openapi-examples.js'

/** The deliveries that an endpoint receives, as OpenAPI's `webhooks` (CONTRACT.md, "Events and webhooks"). */

type EventType = z.infer<typeof eventType>

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
  key_id: text('the key; of a rotation the old one'),
  name: text(),
  sub_wallet_id: text(),
  rotated_from: { type: ['string', 'null'], description: 'the key that it took the place of' },
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

interface Delivery {
  readonly when: string
  readonly data: JsonSchema
  /** What of the example of `data` differs for this event. */
  readonly example?: Readonly<Record<string, JsonValue>>
}

const DELIVERIES: Readonly<Record<EventType, Delivery>> = {
  'transaction.broadcast': { when: 'A node has taken a transaction.', data: TRANSACTION },
  'transaction.confirmed': {
    when: 'A transaction is as deep in the chain as its configuration wants.',
    data: TRANSACTION,
    // Of the moment: later blocks do not change what an event says.
    example: { ...CONFIRMED, confirmations: 1 },
  },
  'transaction.failed': {
    when: 'A transaction was mined and reverted: its gas is spent, its value is not.',
    data: TRANSACTION,
    example: {
      ...{
        ...CONFIRMED,
        status: 'failed',
        confirmations: 1,
        spend_usd: '0.01',
        confirmed_at: null,
      },
      error: { code: 'EXECUTION_REVERTED', message: 'The transaction was mined and reverted.' },
    },
  },
  'transaction.dropped': {
    when: 'The chain will never take a transaction; its spend is released.',
    data: TRANSACTION,
    example: {
      status: 'dropped',
      error: {
        code: 'CHAIN_REJECTED',
        message: 'The chain kept refusing the transaction; its nonce was used up without it.',
      },
    },
  },
  'key.rotated': {
    when: 'A key was rotated; the old one ends after 24 hours.',
    data: KEY,
  },
  'key.revoked': {
    when: 'A key was revoked, for good.',
    data: KEY,
  },
  'limit.reached': {
    when: 'The spend of a key has crossed 80 % or all of a cap.',
    data: objectOf({
      key_id: text(),
      sub_wallet_id: text(),
      period: { type: 'string', enum: ['daily', 'monthly'] },
      percent: { type: 'integer', enum: [80, 100] },
      limit_usd: text(),
      used_usd: text(),
    }),
  },
  'user.frozen': { when: 'Nothing new of a user is signed any more.', data: frozen('user_id') },
  'user.unfrozen': { when: 'A user has lifted a freeze.', data: frozen('user_id') },
  'wallet.frozen': {
    when: 'Nothing new of a sub-wallet is signed any more.',
    data: frozen('sub_wallet_id'),
  },
  'wallet.unfrozen': { when: 'A user has lifted a freeze.', data: frozen('sub_wallet_id') },
  'key.frozen': {
    when: 'Nothing new of a key, its successors and what it succeeded is signed any more.',
    data: frozen('key_id', 'sub_wallet_id'),
  },
  'key.unfrozen': {
    when: 'A user has lifted a freeze.',
    data: frozen('key_id', 'sub_wallet_id'),
  },
  'approval.requested': {
    when: 'A call waits for a person or for its time; or people are asked again, as asked_again says.',
    data: APPROVAL,
  },
  'approval.approved': { when: 'Enough people approved a call, or its time came.', data: APPROVAL },
  'approval.declined': { when: 'A person declined a call; comment says why.', data: APPROVAL },
  'approval.expired': { when: 'Nobody approved a call in time.', data: APPROVAL },
  'webhook.test': {
    when: 'Somebody asked for it.',
    data: objectOf({ webhook_id: text() }),
  },
}

const HEADERS: readonly JsonSchema[] = [
  {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'The event. A delivery may come twice: keep it, and take each once.',
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
  '2XX': { description: 'Delivered, if it comes within 10 seconds.' },
  '410': { description: 'The endpoint is gone: it is disabled.' },
  default: {
    description:
      'Tried again after about 5 s, 30 s, 2 min, 15 min, 1 h, 4 h, 12 h and 24 h. Redirects are not followed.',
  },
}

/** @param components where the transaction is described */
export function webhooks(components: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return Object.fromEntries(
    eventType.options.map((type) => [type, { post: delivery(type, DELIVERIES[type], components) }]),
  )
}

function delivery(
  type: EventType,
  { when, data, example }: Delivery,
  components: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const shown = exampleOf(data, components) as Readonly<Record<string, JsonValue>>
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
          example: { type, timestamp: TIME, data: { ...shown, ...example } },
        },
      },
    },
    responses: RESPONSES,
  }
}
