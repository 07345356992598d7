import { z } from 'zod'
import { BREAKER_FACTOR_MAX, COUNT_MAX, PER_SECONDS_MAX } from '../policy/bounds.js'
import { SHARING_WALLETS_MAX, USER_BREAKERS_MAX } from '../policy/user-breakers.js'

/** The user's breakers on the wire. */

const perSeconds = z.int().min(1).max(PER_SECONDS_MAX).describe('a sliding time, seconds')
const count = z.int().min(1).max(COUNT_MAX)

export const userBreaker = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('refusals'),
    count: count.describe('calls of all keys together'),
    per_seconds: perSeconds,
  }),
  z.strictObject({
    kind: z.literal('new_beneficiaries'),
    count: count.describe('each new to the sub-wallet that pays it'),
    per_seconds: perSeconds,
  }),
  z.strictObject({
    kind: z.literal('spend_factor'),
    factor: z
      .int()
      .min(1)
      .max(BREAKER_FACTOR_MAX)
      .describe('multiple of the mean of earlier periods'),
    per_seconds: perSeconds,
  }),
  z.strictObject({
    kind: z.literal('shared_beneficiary'),
    wallets: z
      .int()
      .min(2)
      .max(SHARING_WALLETS_MAX)
      .describe('number of sub-wallets that pay the same address, each for the first time'),
    per_seconds: perSeconds,
  }),
])

const breakers = z.array(userBreaker).max(USER_BREAKERS_MAX)
const presetName = z.enum(['off', 'usual', 'strict'])

export const setUserBreakersInput = z.strictObject({
  breakers: z
    .union([presetName, breakers])
    .describe('a preset, or your own; they replace the earlier ones and count from zero'),
})

export const userBreakers = z.looseObject({
  breakers: z
    .array(z.looseObject({ kind: z.string(), per_seconds: z.number() }))
    .describe('each freezes the user, with its figures as the reason; none by default'),
  preset: presetName.nullable().describe('the matching preset; null: your own'),
})
