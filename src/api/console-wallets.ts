import { z } from 'zod'
import { chainId, timestamp } from './primitives.js'
import { nativeBalance, tokenBalances } from './wallet.js'

/** What a sub-wallet holds, for its owner. */

export const walletOnChainInput = z.strictObject({
  sub_wallet_id: z.string().max(64),
  chain_id: chainId,
})

export const walletPositionsInput = z.strictObject({
  sub_wallet_id: z.string().max(64),
  chain_id: chainId.optional().describe('default: all chains'),
})

export const walletBalances = z.looseObject({
  chain_id: chainId,
  native: nativeBalance.omit({ chain_id: true }),
  tokens: tokenBalances.shape.tokens,
})

export const walletGasInput = z.strictObject({
  sub_wallet_id: z.string().max(64),
})

export const sponsoredGas = z.looseObject({
  daily_limit_usd: z.string().describe('the most that the service pays for this sub-wallet a day'),
  daily_used_usd: z.string().describe('with reservations'),
  reserved_usd: z.string().describe('held for calls under way'),
  user_daily_limit_usd: z.string().describe('the most that it pays for all sub-wallets'),
  user_daily_used_usd: z.string().describe('with reservations'),
  resets_at: timestamp.describe('next daily reset, 00:00 UTC'),
})

export type SponsoredGas = z.infer<typeof sponsoredGas>
