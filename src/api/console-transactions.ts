import { z } from 'zod'
import {
  label,
  listCursor,
  listLimit,
  nameSearch,
  nextCursor,
  timestamp,
  usdCap,
} from './primitives.js'

/** What a person looks at: spend by key, refusals. */

/** A month of days. */
const SPENT_DAYS_SHOWN_MAX = 30

const shownDays = z.int().min(1).max(SPENT_DAYS_SHOWN_MAX).optional()

export const listSpendInput = z.strictObject({
  limit: listLimit.optional(),
  cursor: listCursor.optional(),
  key_id: z.string().max(64).optional().describe('this key alone'),
  search: nameSearch.optional(),
  order: z
    .enum(['newest', 'nearest_cap'])
    .optional()
    .describe(
      'newest unless given; nearest_cap: one for each lineage in force, by the share of its nearest cap that is used, then by what it spent today',
    ),
  days: shownDays.describe('so many UTC days of each, by day; none unless given'),
})

const caps = {
  daily_limit_usd: usdCap,
  daily_used_usd: z.string().describe('today, UTC; what is reserved included'),
  monthly_limit_usd: usdCap,
  monthly_used_usd: z.string().describe('this month, UTC; what is reserved included'),
}

const spentDays = z
  .array(
    z.looseObject({
      date: z.iso.date().meta({ examples: ['2026-11-24'] }),
      spent_usd: z.string().describe('what is reserved included'),
    }),
  )
  .optional()
  .describe('every day that was asked for, today last')

export const spendTotalsInput = z.strictObject({
  days: shownDays.describe('so many UTC days, by day; none unless given'),
})

/** Of all keys of the account, revoked ones included, each spend once. */
export const spendTotals = z.looseObject({
  daily_resets_at: timestamp,
  monthly_resets_at: timestamp,
  daily_used_usd: caps.daily_used_usd,
  monthly_used_usd: caps.monthly_used_usd,
  reserved_usd: z.string().describe('of what is not final yet'),
  keys_in_force: z.int().describe('lineages whose newest key is not revoked'),
  unread_wallets: z
    .int()
    .describe('in none of these, since their records are damaged: 0 in health'),
  days: spentDays,
})

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
        days: spentDays,
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
