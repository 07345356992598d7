import { z } from 'zod'
import { callPolicyBacktested } from './call-policy.js'
import {
  address,
  chainId,
  label,
  listCursor,
  listLimit,
  nextCursor,
  timestamp,
  txId,
  usdCap,
} from './primitives.js'

/** The audit trail, the user's address rules, and backtests of other caps. */

export const auditType = z.enum([
  'wallet.created',
  'key.created',
  'key.changed',
  'key.rotated',
  'key.rotated_out',
  'key.revoked',
  'grant.put',
  'send.allowed',
  'send.refused',
  'spend.unvalued',
  'webhook.created',
  'webhook.changed',
  'webhook.enabled',
  'webhook.disabled',
  'webhook.removed',
  'webhook.secret_rotated',
  'address_rule.set',
  'breakers.set',
  'address_rule.removed',
  'user.frozen',
  'user.unfrozen',
  'wallet.frozen',
  'wallet.unfrozen',
  'key.frozen',
  'key.unfrozen',
  'member.invited',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'approval.requested',
  'approval.asked_again',
  'approval.decided',
  'approval.declined',
  'approval.expired',
  'approval.withdrawn',
  'approval.dropped',
])

export const listAuditInput = z.strictObject({
  limit: listLimit.optional(),
  cursor: listCursor.optional(),
  sub_wallet_id: z.string().max(64).optional(),
  key_id: z.string().max(64).optional(),
  type: auditType.optional(),
  tx_id: txId.optional().describe('only entries of this transaction, on one page, newest first'),
})
export const auditRecord = z.looseObject({
  audit_id: z.string(),
  at: timestamp,
  type: auditType,
  sub_wallet_id: z.string().nullable(),
  key_id: z.string().nullable(),
  request_id: z.string().nullable(),
  tx_id: z.string().nullable(),
  message: z.string().nullable().describe('the reason for a refusal, as text'),
  details: z.looseObject({}),
})
export const auditPage = z.looseObject({
  records: z.array(auditRecord),
  next_cursor: nextCursor,
})

const ruleAction = z.enum(['block', 'allow'])
export const putAddressRuleInput = z.strictObject({
  address,
  action: ruleAction.describe("allow never overrides a sanctions list or the operator's"),
  chain_id: z.null().optional().describe('rules apply on every chain'),
  note: label.nullable().optional(),
})
export const addressRule = z.looseObject({
  address: z.string(),
  action: ruleAction,
  chain_id: chainId.nullable(),
  note: z.string().nullable(),
  created_at: timestamp,
})
export const addressRuleList = z.looseObject({
  rules: z.array(addressRule),
  next_cursor: nextCursor,
})
export const deleteAddressRuleInput = z.strictObject({ address })

export const backtestInput = z.strictObject({
  key_id: z.string().max(64),
  daily_limit_usd: usdCap.optional().describe("default: the key's"),
  monthly_limit_usd: usdCap.optional().describe("default: the key's"),
  policy: callPolicyBacktested.optional(),
  cursor: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('next_cursor of the previous answer; same caps'),
})
export const backtestResult = z.looseObject({
  checked: z.int().describe("sends of the key's lineage that this step covered"),
  refused: z.array(
    z.looseObject({
      tx_id: z.string(),
      created_at: timestamp,
      spend_usd: z.string().describe('USD that it requested'),
      period: z.enum(['daily', 'monthly']),
      used_usd: z.string().describe('USD used under these caps at that time'),
    }),
  ),
  policy_denied: z
    .array(
      z.looseObject({
        tx_id: z.string(),
        created_at: timestamp,
        effect: z.enum(['deny', 'require_approval']),
        rule: z.string(),
        field: z.string(),
        observed: z.string(),
        permitted: z.string(),
      }),
    )
    .optional()
    .describe('sends that the policy would have refused; absent without a policy'),
  next_cursor: nextCursor.describe('null once the whole history is covered'),
})
