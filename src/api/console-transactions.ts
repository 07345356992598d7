import { z } from 'zod'
import { approvalRecord } from './approvals.js'
import { auditRecord } from './console-records.js'
import { deliveryRecord, eventType } from './console-webhooks.js'
import { label, listCursor, listLimit, nextCursor, timestamp, txId, usdCap } from './primitives.js'
import { transactionRecord } from './transaction.js'

/** What a person looks at: one transaction with all that is known of it, spend by key, refusals. */

export const transactionIdInput = z.strictObject({ tx_id: txId })

const timelineStep = z.enum([
  'decided',
  'approval_requested',
  'approved',
  'signed',
  'broadcast',
  'replaced',
  'cancel_signed',
  'mined',
  'confirmed',
  'failed',
  'dropped',
  'declined',
  'expired',
  'withdrawn',
])

export const transactionDetail = transactionRecord.extend({
  sub_wallet_id: z.string(),
  request_id: z.string().describe('of the request that asked for it'),
  gas_limit: z.string(),
  valuation: z
    .looseObject({
      value_usd: z.string().describe('what the call itself moves out'),
      gas_usd: z.string().describe('worst-case gas'),
      native_price_usd: z.string().describe('of one native coin, by which gas is settled too'),
      reserved_usd: z.string().describe('what was taken of the caps'),
    })
    .describe('how its spend was valued when it was decided'),
  attempts: z
    .array(
      z.looseObject({
        tx_hash: z.string(),
        signed_at: timestamp,
        max_fee_per_gas_wei: z.string(),
        max_priority_fee_per_gas_wei: z.string(),
        cancels: z.boolean().describe('sends nothing, to end the transaction'),
      }),
    )
    .describe('each set of signed bytes, oldest first; one that is replaced by a higher fee stays'),
  timeline: z
    .array(
      z.looseObject({
        step: timelineStep.describe(
          'signed: and stored, in the same moment; replaced: signed again with a higher fee',
        ),
        at: timestamp.nullable().describe('null where only the block is known'),
        tx_hash: z.string().nullable(),
        block_number: z.int().nullable(),
      }),
    )
    .describe('what happened to it, in order'),
  screened_against: z
    .array(z.looseObject({ list: z.string(), version: z.string(), checked_at: timestamp }))
    .nullable()
    .describe('lists that its clean verdict rests on; null where the entry is no longer kept'),
  approvals: z.array(approvalRecord).describe('where its policy asked for approval: that one'),
  events: z
    .array(
      z.looseObject({
        seq: z.int(),
        event_id: z.string(),
        type: eventType,
        timestamp,
        deliveries: z.array(
          deliveryRecord.extend({
            webhook_id: z.string(),
            kind: z.string(),
            url: z.string(),
          }),
        ),
      }),
    )
    .describe('its events that are kept, with what was delivered of each'),
  audit: z.array(auditRecord).describe('its entries of the audit trail, oldest first'),
})

/** A month of days. */
const SPENT_DAYS_SHOWN_MAX = 30

export const listSpendInput = z.strictObject({
  limit: listLimit.optional(),
  cursor: listCursor.optional(),
  key_id: z.string().max(64).optional().describe('this key alone'),
  days: z
    .int()
    .min(1)
    .max(SPENT_DAYS_SHOWN_MAX)
    .optional()
    .describe('so many UTC days of each, by day; none unless given'),
})

const caps = {
  daily_limit_usd: usdCap,
  daily_used_usd: z.string().describe('today, UTC; what is reserved included'),
  monthly_limit_usd: usdCap,
  monthly_used_usd: z.string().describe('this month, UTC; what is reserved included'),
}

export const spendList = z.looseObject({
  daily_resets_at: timestamp,
  monthly_resets_at: timestamp,
  keys: z
    .array(
      z.looseObject({
        key_id: z.string(),
        lineage_id: z
          .string()
          .describe('the first key of its rotations; keys of one share counters and caps'),
        parent_key_id: z.string().nullable(),
        name: label,
        sub_wallet_id: z.string(),
        status: z.enum(['active', 'rotated_out', 'revoked']),
        ...caps,
        reserved_usd: z.string().describe('of what is not final yet'),
        days: z
          .array(
            z.looseObject({
              date: z.iso.date().meta({ examples: ['2026-11-24'] }),
              spent_usd: z.string().describe('what is reserved included'),
            }),
          )
          .optional()
          .describe('every day that was asked for, today last'),
      }),
    )
    .describe('newest first'),
  next_cursor: nextCursor,
})

/** A month: further back the audit trail tells, page by page. */
const REFUSALS_HOURS_MAX = 744

export const listRefusalsInput = z.strictObject({
  hours: z
    .int()
    .min(1)
    .max(REFUSALS_HOURS_MAX)
    .optional()
    .describe('how far back; 1 to 744, default 24'),
  key_id: z.string().max(64).optional(),
})

export const refusalCounts = z.looseObject({
  since: timestamp,
  counted_since: timestamp.describe('later than `since` where there were too many to count'),
  total: z.int(),
  reasons: z
    .array(
      z.looseObject({
        code: z.string(),
        message: z.string().describe('in words'),
        count: z.int(),
        last_at: timestamp,
      }),
    )
    .describe('most frequent first; list_audit with type send.refused has each of them'),
})
