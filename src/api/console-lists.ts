import { z } from 'zod'
import { addressRule } from './console-records.js'
import { address, timestamp } from './primitives.js'

/** The lists that the service screens calls against, and their entries. */

const listKind = z
  .enum(['sanctions', 'operator', 'risk'])
  .describe("source of the list; a user's allow entry overrides only risk lists")

export const screeningLists = z.looseObject({
  ready: z.boolean().describe('false: every write is answered SCREENING_UNAVAILABLE'),
  reason: z.string().nullable().describe('why it is not ready'),
  lists: z.array(
    z.looseObject({
      list: z.string(),
      kind: listKind,
      source: z.string().describe('the file name or publisher it was made from'),
      version: z.string().describe('changes exactly when the content does'),
      entries: z.int(),
      checked_at: timestamp
        .nullable()
        .describe('when it was last compared with its source; null for a built-in list'),
      max_age_seconds: z.int().nullable().describe('the age at which it is stale; null: never'),
      stale: z.boolean(),
    }),
  ),
})

export const checkAddressInput = z.strictObject({ address })
export const checkedAddress = z.looseObject({
  address: z.string(),
  lists: z
    .array(z.looseObject({ list: z.string(), kind: listKind, version: z.string() }))
    .describe('every list that contains it'),
  rule: addressRule.nullable().describe("the user's own entry"),
  refused: z.boolean().describe('whether a call that names it would be refused now'),
})
