import { z } from 'zod'
import { BASE_CHAIN_ID } from '../domain/chains.js'
import { address, chainId, positiveAmount, timestamp } from './primitives.js'

/** Spec silent: half a percent unless said otherwise; half of it all is more than anybody means. */
export const SLIPPAGE_BPS_DEFAULT = 50
const SLIPPAGE_BPS_MAX = 5_000

const token = address.describe('ERC-20 address; 0xEeee…EEeE means the native currency')

const swapInput = z.strictObject({
  chain_id: chainId,
  token_in: token,
  token_out: token,
  amount_in: positiveAmount.describe('smallest unit of token_in, fee included'),
  slippage_bps: z
    .int()
    .min(0)
    .max(SLIPPAGE_BPS_MAX)
    .optional()
    .describe('accepted slippage in basis points; default 50'),
})

export const swapQuoteInput = swapInput

export const executeSwapInput = z.union([
  swapInput,
  z.strictObject({
    quote_id: z.string().min(1).max(64).describe('of get_swap_quote; good for a minute'),
  }),
])

export type SwapInput = z.infer<typeof swapInput>

export const swapQuote = z.looseObject({
  amount_in: z.string().describe('smallest unit of token_in'),
  amount_out: z.string().describe('decimal amount of token_out'),
  fee_amount: z.string().describe('smallest unit of fee_token'),
  fee_token: z.string().describe('symbol'),
  gas_sponsored: z.boolean().describe('false where the chain has no Router'),
  chain_id: chainId,
  token_in: z.string(),
  token_out: z.string(),
  amount_out_min: z.string().describe('decimal; less makes the swap revert'),
  price_impact_bps: z.int(),
  fee_bps: z.int(),
  route: z.looseObject({
    venue: z.string(),
    tokens: z.array(z.string()),
    pool_fees: z.array(z.int()).describe('per hop, hundredths of a basis point'),
  }),
  expires_at: timestamp,
  quote_id: z.string(),
})

export const gasSwapInput = z.strictObject({
  chain_id: chainId.describe(`Base only: ${BASE_CHAIN_ID}`),
  amount_in: positiveAmount.describe('USDC, smallest unit, fee included'),
})
