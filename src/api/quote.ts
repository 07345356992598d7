import { z } from 'zod'
import { timestamp } from './primitives.js'

/** The fields that every quote has, for calls with one input and one output. */
export const gasSwapQuote = z.looseObject({
  amount_in: z.string().describe('smallest unit of the input, fee included'),
  amount_out: z.string().describe('decimal amount of the output'),
  fee_amount: z.string().describe('smallest unit of fee_token'),
  fee_token: z.string().describe('symbol; the fee is taken in the input'),
  gas_sponsored: z.boolean().describe('false where the chain has no Router'),
  fee_bps: z.int(),
  expires_at: timestamp,
})

export const vaultQuote = gasSwapQuote.extend({ market_id: z.string() })
