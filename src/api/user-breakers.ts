import { z } from 'zod'
import { BREAKER_FACTOR_MAX, COUNT_MAX, PER_SECONDS_MAX } from '../policy/policy.js'
import { SHARING_WALLETS_MAX, USER_BREAKERS_MAX } from '../policy/user-breakers.js'

/** What freezes a user by itself, on the wire. */

const perSeconds = z.int().min(1).max(PER_SECONDS_MAX).describe('a sliding time, seconds')
const count = z.int().min(1).max(COUNT_MAX)

export const userBreaker = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('refusals'),
    count: count.describe('of calls of all keys together'),
    per_seconds: perSeconds,
  }),
  z.strictObject({
    kind: z.literal('new_beneficiaries'),
    count: count.describe('each new to the sub-wallet that pays it'),
    per_seconds: perSeconds,
  }),
  z.strictObject({
    kind: z.literal('spend_factor'),
    factor: z.int().min(1).max(BREAKER_FACTOR_MAX).describe('of the mean of the times before'),
    per_seconds: perSeconds,
  }),
  z.strictObject({
    kind: z.literal('shared_beneficiary'),
    wallets: z
      .int()
      .min(2)
      .max(SHARING_WALLETS_MAX)
      .describe('so many sub-wallets pay the same one, each for the first time'),
    per_seconds: perSeconds,
  }),
])

const breakers = z.array(userBreaker).max(USER_BREAKERS_MAX)
const presetName = z.enum(['off', 'usual', 'strict'])

export const setUserBreakersInput = z.strictObject({
  breakers: z
    .union([presetName, breakers])
    .describe('a preset, or your own; they take the place of those before, and count anew'),
})

export const userBreakers = z.looseObject({
  breakers: z
    .array(z.looseObject({ kind: z.string(), per_seconds: z.number() }))
    .describe('each freezes the user, with the figures as its reason; none by default'),
  preset: presetName.nullable().describe('the preset that they are; null: they are of your own'),
})
