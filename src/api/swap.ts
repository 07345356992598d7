import { z } from 'zod'
import { BASE_CHAIN_ID } from '../domain/chains.js'
import { address, chainId, positiveAmount, timestamp } from './primitives.js'

/** Spec silent: half a percent by default; more than half of everything is never intended. */
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

export type SwapInput = z.infer<typeof swapInput>

export const swapQuoteInput = swapInput

const QUOTE_OR_TERMS = 'Give quote_id alone, or chain_id, token_in, token_out and amount_in'
/** The form that needs no earlier call. */
const SWAP_EXAMPLE = {
  chain_id: BASE_CHAIN_ID,
  token_in: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  token_out: '0x4200000000000000000000000000000000000006',
  amount_in: '1500000',
  slippage_bps: 50,
}
const TERMS = ['chain_id', 'token_in', 'token_out', 'amount_in'] as const

const quoteOrTerms = z
  .strictObject({
    ...swapInput.partial().shape,
    quote_id: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('of get_swap_quote, good for a minute; then nothing else'),
  })
  .meta({ description: QUOTE_OR_TERMS, minProperties: 1, examples: [SWAP_EXAMPLE] })
  .superRefine((input, { addIssue }) => {
    const { quote_id, ...terms } = input
    if (quote_id === undefined) {
      for (const path of TERMS) {
        if (terms[path] === undefined) {
          addIssue({ code: 'custom', path: [path], message: `missing: ${QUOTE_OR_TERMS}` })
        }
      }
      return
    }
    for (const path of Object.keys(terms)) {
      const message = 'not together with quote_id, which says it already'
      addIssue({ code: 'custom', path: [path], message })
    }
  })

/**
 * One flat object, although only two forms are accepted: hosts refuse a tool, or the whole list, if
 * its schema is a choice at the root.
 */
export const executeSwapInput = quoteOrTerms as z.ZodType as z.ZodType<
  SwapInput | { quote_id: string }
>

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
