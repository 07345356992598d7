import { z } from 'zod'
import { chainId, positiveAmount, positiveAmountOrMax } from './primitives.js'

const marketId = z.string().min(1).max(64).describe('of get_defi_markets')

export const chainFilter = z.strictObject({
  chain_id: chainId.optional().describe('default: every chain of the key'),
})

export const defiMarkets = z.looseObject({
  markets: z.array(
    z.looseObject({
      market_id: z.string(),
      chain_id: chainId,
      protocol: z.string(),
      name: z.string(),
      asset: z.string().nullable(),
      asset_symbol: z.string().nullable(),
      asset_decimals: z.int().nullable(),
      vault: z.string(),
      apy: z.string().nullable().describe('yearly yield, fraction (0.05 is 5 %); null: not known'),
      tvl_usd: z.string().nullable(),
      paused: z.boolean().nullable().describe('takes no deposits now'),
    }),
  ),
})

export const defiPositions = z.looseObject({
  positions: z.array(
    z.looseObject({
      market_id: z.string(),
      chain_id: chainId,
      vault: z.string(),
      asset: z.string().nullable(),
      shares: z.string().nullable().describe('smallest unit of the vault shares'),
      asset_amount: z
        .string()
        .nullable()
        .describe('what they are worth, smallest unit of the asset'),
      usd_value: z.string().nullable(),
    }),
  ),
})

export const defiDepositInput = z.strictObject({
  chain_id: chainId,
  market_id: marketId,
  amount: positiveAmount.describe('smallest unit of the asset, fee included'),
})

export const defiWithdrawInput = z.strictObject({
  chain_id: chainId,
  market_id: marketId,
  shares: positiveAmountOrMax.describe('of get_positions, fee included; or "max"'),
})
