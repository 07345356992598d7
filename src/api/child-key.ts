import { z } from 'zod'
import { apiKey } from './console.js'
import { createdPolicy } from './key-policy.js'
import { label, timestamp } from './primitives.js'

/** Keys that a key makes for other programs. */

export const createChildKeyInput = z.strictObject({
  name: label,
  permission: createdPolicy.permission,
  allowed_chains: createdPolicy.allowed_chains.unwrap().describe('of those that the caller has'),
  daily_limit_usd: createdPolicy.daily_limit_usd.describe("within what the caller's has left"),
  monthly_limit_usd: createdPolicy.monthly_limit_usd.describe("within what the caller's has left"),
  policy: createdPolicy.policy.describe("holds together with the caller's; default: the caller's"),
  may_delegate: createdPolicy.may_delegate,
  expires_at: z.iso.datetime().describe('no later than the caller ends'),
})

export const childKey = apiKey.extend({
  secret: z.string().describe('shown once'),
  created_at: timestamp,
})
