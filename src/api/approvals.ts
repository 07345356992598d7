import { z } from 'zod'
import { ASKED_AGAIN } from '../domain/approval.js'
import { authorization } from './console.js'
import { listCursor, listLimit, nextCursor, remark, timestamp } from './primitives.js'
import { txKind, txStatus } from './transaction.js'

/** Calls that wait for a person, or did (CONTRACT.md, "Approvals"). */

const approvalStatus = z.enum(['pending', 'approved', 'declined', 'expired', 'withdrawn'])
const approvalId = z.string().max(64)
/** Given to the agent. */
const comment = remark(500).optional()

export const listApprovalsInput = z.strictObject({
  limit: listLimit.optional(),
  cursor: listCursor.optional(),
  status: approvalStatus.optional(),
})
export const approvalIdInput = z.strictObject({ approval_id: approvalId })
export const approveCallInput = z.strictObject({
  approval_id: approvalId,
  proof: authorization.optional(),
  comment,
})
export const declineCallInput = z.strictObject({ approval_id: approvalId, comment })

export const approvalRecord = z.looseObject({
  approval_id: z.string(),
  tx_id: z.string(),
  key_id: z.string(),
  sub_wallet_id: z.string(),
  status: approvalStatus,
  tx_status: txStatus.describe('what became of the call: one that was approved may be dropped'),
  error: z
    .looseObject({ code: z.string(), message: z.string() })
    .nullable()
    .describe('of the call; null while nothing went wrong'),
  rule: z.string().describe("the policy's rule that asks, or default"),
  needed: z.int().describe('distinct people; 0 where it only waits for its time'),
  delay_seconds: z.int(),
  decisions: z.array(
    z.looseObject({
      authorizer_id: z
        .string()
        .nullable()
        .describe('software: a development instance; null: a console token'),
      decision: z.enum(['approve', 'decline']),
      at: timestamp,
      comment: z.string().nullable(),
    }),
  ),
  call: z.looseObject({
    operation: txKind,
    chain_id: z.int(),
    to: z.string().describe('of a sponsored call the Router'),
    value: z.string().describe('wei'),
    data: z.string().describe("of a sponsored call the venue's"),
    intent: z
      .looseObject({
        venue: z.string(),
        token_in: z.string(),
        amount_in: z.string().describe('smallest unit, fee included'),
        token_out: z.string(),
        amount_out_min: z.string().describe('smallest unit'),
        fee_bps: z.int(),
      })
      .nullable()
      .describe(
        "what is signed where the service pays the gas: the Router intent's terms; else null",
      ),
    decoded: z.looseObject({
      selector: z.string().nullable(),
      moves: z
        .array(z.looseObject({ token: z.string(), amount: z.string() }))
        .nullable()
        .describe('smallest units; null when the bytes do not say'),
      beneficiaries: z.array(z.string()).nullable(),
    }),
  }),
  spend_usd: z.string().describe('what is reserved'),
  max_native_wei: z
    .string()
    .describe('the most that its gas may cost, wei; of no meaning where the service pays'),
  simulation: z.looseObject({
    simulated: z.boolean(),
    gas_used: z.string().nullable(),
    max_fee_native_wei: z.string(),
  }),
  screening: z.looseObject({
    lists: z.array(z.looseObject({ list: z.string(), version: z.string() })),
  }),
  asked_again: z
    .enum(ASKED_AGAIN)
    .nullable()
    .describe('why people were asked once more; what was approved before counts no more'),
  url: z.string().nullable(),
  requested_at: timestamp,
  expires_at: timestamp,
  decided_at: timestamp.nullable(),
})
export const approvalList = z.looseObject({
  approvals: z.array(approvalRecord),
  next_cursor: nextCursor,
})
