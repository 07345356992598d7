import { z } from 'zod'
import {
  address,
  calldata,
  chainId,
  listCursor,
  listLimit,
  nextCursor,
  timestamp,
  txId,
  weiAmount,
} from './primitives.js'

export const txStatus = z.enum([
  'awaiting_approval',
  'signed',
  'broadcast',
  'confirmed',
  'failed',
  'dropped',
  'declined',
  'expired',
  'withdrawn',
])
export const txKind = z.enum(['send', 'swap', 'defi_deposit', 'defi_withdraw', 'gas_swap'])

export const sendTransactionInput = z.strictObject({
  chain_id: chainId,
  to: address.describe('recipient or contract'),
  data: calldata.optional().describe('calldata; default "0x"'),
  value: weiAmount.optional().describe('wei; default "0"'),
  allow_burn: z.boolean().optional().describe('true: burn on purpose'),
})

export const simulation = z.looseObject({
  success: z.boolean(),
  gas_used: z.string(),
  max_fee_native_wei: z.string().describe('worst-case fee, wei'),
  spend_usd: z
    .string()
    .describe(
      'what a send by this key would reserve, decimal USD: approvals in full, pulls less what this key approved today',
    ),
  within_limits: z.boolean(),
  asset_changes: z.array(
    z.looseObject({
      token: z.string().nullable().describe('null is native currency'),
      symbol: z.string(),
      from: z.string(),
      to: z.string(),
      amount: z.string().describe('smallest unit'),
      usd_value: z.string().nullable(),
    }),
  ),
  approvals: z.array(
    z.looseObject({
      token: z.string(),
      spender: z.string(),
      amount: z.string(),
      usd_value: z
        .string()
        .nullable()
        .describe('the smaller of amount and total supply, decimal USD; null when unpriced'),
    }),
  ),
  screening: z.looseObject({
    blocked: z.boolean(),
    addresses: z.array(
      z.looseObject({
        address: z.string(),
        path: z.string(),
        hit: z.looseObject({ list: z.string(), version: z.string() }).nullable(),
      }),
    ),
  }),
  approval: z
    .looseObject({
      rule: z.string(),
      needed: z.int(),
      expires_seconds: z.int(),
      delay_seconds: z.int(),
    })
    .nullable()
    .describe('where the send would wait for approval, or for its time; null: it would not'),
  revert_reason: z.string().nullable(),
})

/**
 * As executed, only for sponsored calls; null until mined, and for one that failed. Spec silent: a
 * record names the fee's token by address, as the event does; symbols are for quotes.
 */
const sponsoredFields = {
  fee_token: z.string().nullable().optional().describe('address; sponsored calls alone, as below'),
  fee_amount: z.string().nullable().optional().describe('as executed, smallest unit of fee_token'),
  token_in: z.string().nullable().optional(),
  amount_in: z.string().nullable().optional().describe('smallest unit of token_in, fee included'),
  token_out: z.string().nullable().optional(),
  amount_out: z.string().nullable().optional().describe('smallest unit of token_out'),
}

/** The approval that a call waits for, or waited for. */
const askedApproval = z.looseObject({
  approval_id: z.string(),
  url: z.string().nullable().describe('page on which people approve, or null'),
  rule: z.string().describe("the policy's rule that asks, or default"),
  needed: z.int().describe('distinct people; 0 where it only waits for its time'),
  expires_at: timestamp,
  runs_at: timestamp.nullable().describe('it is not signed before; null: at once'),
})

/** The transaction record (CONTRACT.md, "Transactions"), as REST, MCP, lists and events show it. */
export const transactionRecord = z.looseObject({
  tx_id: txId,
  tx_hash: z.string().nullable().describe('null until it is signed'),
  chain_id: chainId,
  from: z.string(),
  to: z.string(),
  value: z.string().describe('wei'),
  data: z.string(),
  nonce: z.int().nullable().describe('null until it has one'),
  status: txStatus,
  kind: txKind,
  spend_usd: z.string().describe('reserved until final, then what really left the wallet'),
  fee_native_wei: z.string().nullable().describe('fee paid, wei; null until mined'),
  block_number: z.int().nullable(),
  confirmations: z.int(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  replaced_hashes: z.array(z.string()),
  key_id: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
  confirmed_at: timestamp.nullable(),
  queued_behind: txId
    .optional()
    .describe('in a 202 alone: it is signed, and waits behind this earlier transaction'),
  approval: askedApproval.optional().describe('where the policy asked for approval, or for time'),
  ...sponsoredFields,
})

export type TransactionView = z.infer<typeof transactionRecord>

export const getTransactionInput = z.strictObject({ tx_id: txId })

export const cancelTransactionInput = z.strictObject({ tx_id: txId })
export const listTransactionsInput = z.strictObject({
  limit: listLimit.optional(),
  cursor: listCursor.optional(),
  sub_wallet_id: z.string().max(64).optional(),
  key_id: z.string().max(64).optional(),
  chain_id: chainId.optional(),
  status: txStatus.optional(),
  kind: txKind.optional(),
  search: z
    .string()
    .regex(
      /^(?:tx_[0-9A-Z]{26}|0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64}))$/,
      'must be a tx_id, a transaction hash or an address',
    )
    .optional()
    .describe(
      'a tx_id, a hash (replaced ones too), or an address: sender, callee, or named in the calldata',
    ),
})

export const transactionList = z.looseObject({
  transactions: z.array(transactionRecord),
  next_cursor: nextCursor,
})
