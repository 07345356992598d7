import { z } from 'zod'
import { policyLimits } from './call-policy.js'
import { address, chainId, timestamp } from './primitives.js'

export const noInput = z.strictObject({})
export const chainInput = z.strictObject({ chain_id: chainId })
export const balanceInput = z.strictObject({
  chain_id: chainId,
  token: address.describe('ERC-20 contract address; 0xEeee…EEeE means the native currency'),
})

export const walletAddress = z.looseObject({
  addresses: z.looseObject({ evm: z.string().describe('the same address on every chain') }),
  sub_wallet_id: z.string(),
})

export const balance = z.looseObject({
  chain_id: chainId,
  token: z.string(),
  balance: z.string().describe('smallest unit'),
  decimals: z.int(),
  symbol: z.string(),
})

export const nativeBalance = z.looseObject({
  chain_id: chainId,
  balance: z.string().describe('wei'),
  decimals: z.int(),
  symbol: z.string(),
})

export const tokenBalances = z.looseObject({
  chain_id: chainId,
  tokens: z.array(
    z.looseObject({
      token: z.string(),
      symbol: z.string(),
      decimals: z.int(),
      balance: z.string().nullable().describe('smallest unit'),
      usd_value: z.string().nullable().describe('decimal USD; null when unpriced'),
    }),
  ),
})

export const supportedChains = z.looseObject({
  chains: z.array(
    z.looseObject({
      id: chainId,
      name: z.string(),
      has_router: z.boolean().describe('sponsored calls work only where true'),
    }),
  ),
})

export const limits = z.looseObject({
  daily_limit_usd: z.string(),
  daily_used_usd: z.string().describe('with reservations'),
  monthly_limit_usd: z.string(),
  monthly_used_usd: z.string(),
  resets_at: timestamp.describe('next daily reset, 00:00 UTC'),
  daily_resets_at: timestamp,
  monthly_resets_at: timestamp,
  reserved_usd: z.string(),
  // Agents receive the schema with each tool; the caps and the policy below show the fields of
  // these.
  parents: z.array(z.looseObject({})).describe('caps and policy of the keys above, nearest first'),
  policy: policyLimits,
  // Spec silent: agents cannot tell else why a sponsored call is RATE_LIMITED while their caps have room.
  sponsored_gas: z.looseObject({}),
  frozen: z
    .looseObject({
      scope: z.enum(['key', 'wallet', 'user', 'instance']),
      since: timestamp,
      reason: z.string().nullable(),
      by: z.enum(['user', 'breaker', 'operator']),
    })
    .nullable()
    .describe('what stops every call of this key that moves value; null: nothing'),
})

export const gasEstimate = z.looseObject({
  chain_id: chainId,
  gas_price_wei: z.string(),
  recommended_eth_for_5_txs: z.string().describe('native currency, decimal'),
  native_balance_wei: z.string(),
})
