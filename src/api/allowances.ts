import { z } from 'zod'
import { chainId } from './primitives.js'
import { transactionRecord } from './transaction.js'

export const allowances = z.looseObject({
  chain_id: chainId,
  allowances: z.array(
    z.looseObject({
      token: z.string(),
      spender: z.string(),
      kind: z.enum(['erc20', 'erc721', 'collection', 'permit2']),
      amount: z
        .string()
        .nullable()
        .describe('smallest unit; "all" for a collection; null when the contract does not say'),
      usd_value: z
        .string()
        .nullable()
        .describe('the smaller of amount and balance, decimal USD; null when unpriced'),
      token_id: z.string().nullable().describe('for one ERC-721 item'),
      tx_id: z.string().describe('the transaction that made it'),
    }),
  ),
  complete: z.boolean().describe('false once the oldest ones were dropped for newer ones'),
})

export const revokeAllowancesInput = z.strictObject({
  sub_wallet_id: z.string().max(64),
  chain_id: chainId.optional().describe('default: all chains'),
})

export const revokedAllowances = z.looseObject({
  transactions: z.array(transactionRecord).describe('sent now, or already under way'),
  skipped: z.array(
    z.looseObject({
      chain_id: chainId,
      token: z.string(),
      spender: z.string(),
      tx_id: z.string().describe('the transaction that made the allowance'),
      code: z.string().describe('an error code of this API'),
      message: z.string(),
    }),
  ),
})
