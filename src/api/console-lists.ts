import { z } from 'zod'
import { addressRule } from './console-records.js'
import { address, timestamp } from './primitives.js'

/** What calls are screened against: the lists that the service holds, and what is on them. */

const listKind = z
  .enum(['sanctions', 'operator', 'risk'])
  .describe("who is behind it: a user's own allow entry overrides risk lists alone")

export const screeningLists = z.looseObject({
  ready: z.boolean().describe('false: every write is answered SCREENING_UNAVAILABLE'),
  reason: z.string().nullable().describe('why it is not ready'),
  lists: z.array(
    z.looseObject({
      list: z.string(),
      kind: listKind,
      source: z.string().describe('what it was made from: a file name, or a publisher'),
      version: z.string().describe('changes exactly when the content does'),
      entries: z.int(),
      checked_at: timestamp
        .nullable()
        .describe('when it was last compared with its source; null of one that is built in'),
      max_age_seconds: z.int().nullable().describe('older, it is stale; null: it never is'),
      stale: z.boolean(),
    }),
  ),
})

export const checkAddressInput = z.strictObject({ address })
export const checkedAddress = z.looseObject({
  address: z.string(),
  lists: z
    .array(z.looseObject({ list: z.string(), kind: listKind, version: z.string() }))
    .describe('every list that holds it'),
  rule: addressRule.nullable().describe("the user's own entry"),
  refused: z.boolean().describe('whether a call that names it is refused as it stands'),
})
