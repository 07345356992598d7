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

/** Spend by key, and refusals, for a person. */

/** Thirty days, about a month. */
const SPENT_DAYS_SHOWN_MAX = 30

const shownDays = z.int().min(1).max(SPENT_DAYS_SHOWN_MAX).optional()

export const listSpendInput = z.strictObject({
  limit: listLimit.optional(),
  cursor: listCursor.optional(),
  key_id: z.string().max(64).optional().describe('only this key'),
  search: nameSearch.optional(),
  order: z
    .enum(['newest', 'nearest_cap'])
    .optional()
    .describe(
      'newest unless given; nearest_cap: one for each lineage in force, by the share of its nearest cap that is used, then by what it spent today',
    ),
  days: shownDays.describe('also return this many UTC days of each key; none by default'),
})

const caps = {
  daily_limit_usd: usdCap,
  daily_used_usd: z.string().describe('today, UTC, including reservations'),
  monthly_limit_usd: usdCap,
  monthly_used_usd: z.string().describe('this month, UTC, including reservations'),
}

const spentDays = z
  .array(
    z.looseObject({
      date: z.iso.date().meta({ examples: ['2026-11-24'] }),
      spent_usd: z.string().describe('including reservations'),
    }),
  )
  .optional()
  .describe('every requested day, today last')

export const spendTotalsInput = z.strictObject({
  days: shownDays.describe('also return this many UTC days; none by default'),
})

/** Totals over all keys of the account, including revoked ones, counting each spend once. */
export const spendTotals = z.looseObject({
  daily_resets_at: timestamp,
  monthly_resets_at: timestamp,
  daily_used_usd: caps.daily_used_usd,
  monthly_used_usd: caps.monthly_used_usd,
  reserved_usd: z.string().describe('reserved for calls that are not final'),
  keys_in_force: z.int().describe('lineages whose newest key is not revoked'),
  unread_wallets: z
    .int()
    .describe('wallets left out because their records are damaged; normally 0'),
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
          .describe('first key of the lineage, whose keys share counters and caps'),
        parent_key_id: z.string().nullable(),
        name: label,
        sub_wallet_id: z.string(),
        status: z.enum(['active', 'rotated_out', 'revoked']),
        ...caps,
        reserved_usd: z.string().describe('reserved for calls that are not final'),
        days: spentDays,
      }),
    )
    .describe('newest first'),
  next_cursor: nextCursor,
})

/** One month; for earlier refusals, read the audit trail page by page. */
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
  counted_since: timestamp.describe('later than `since` if there were too many to count'),
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
    .describe('most frequent first; list_audit with type send.refused lists each one'),
})
