import { z } from 'zod'
import { ASKED_AGAIN } from '../domain/approval.js'
import { authorization } from './console.js'
import { listCursor, listLimit, nextCursor, remark, timestamp } from './primitives.js'
import { txKind, txStatus } from './transaction.js'

/** Calls that wait for a person, or once did (CONTRACT.md, "Approvals"). */

const approvalStatus = z.enum(['pending', 'approved', 'declined', 'expired', 'withdrawn'])
const approvalId = z.string().max(64)
/** The agent receives it. */
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
  key_name: z.string().nullable().describe('name of the key that made the call'),
  wallet_name: z.string().nullable(),
  status: approvalStatus,
  tx_status: txStatus.describe('status of the call; an approved one may still be dropped'),
  error: z
    .looseObject({ code: z.string(), message: z.string() })
    .nullable()
    .describe('error of the call, or null'),
  rule: z.string().describe("the policy's rule that requires approval, or default"),
  needed: z.int().describe('distinct people; 0 if it only waits for its time'),
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
    to: z.string().describe('the Router for a sponsored call'),
    value: z.string().describe('wei'),
    data: z.string().describe("the venue's calldata for a sponsored call"),
    in_words: z.string().describe('the call as a sentence, with the service’s names for tokens'),
    labels: z.record(z.string(), z.string()).describe('notes in your address rules, by address'),
    intent: z
      .looseObject({
        venue: z.string(),
        token_in: z.string(),
        amount_in: z.string().describe('smallest unit, fee included'),
        token_out: z.string(),
        amount_out_min: z.string().describe('smallest unit'),
        fee_bps: z.int(),
        in_units: z.looseObject({ amount_in: z.string(), amount_out_min: z.string() }),
      })
      .nullable()
      .describe(
        'terms of the Router intent that is signed if the service pays the gas; otherwise null',
      ),
    decoded: z.looseObject({
      selector: z.string().nullable(),
      moves: z
        .array(
          z.looseObject({
            token: z.string(),
            amount: z.string(),
            symbol: z.string().nullable(),
            decimals: z.int().nullable(),
          }),
        )
        .nullable()
        .describe('smallest units; null if the calldata does not tell'),
      beneficiaries: z.array(z.string()).nullable(),
    }),
  }),
  spend_usd: z.string().describe('USD reserved for it'),
  max_native_wei: z
    .string()
    .describe('the most that its gas may cost, wei; meaningless if the service pays'),
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
    .describe('why approval was requested again; earlier approvals no longer count'),
  url: z.string().nullable(),
  requested_at: timestamp,
  expires_at: timestamp,
  decided_at: timestamp.nullable(),
})
export const approvalList = z.looseObject({
  approvals: z.array(approvalRecord),
  next_cursor: nextCursor,
})
