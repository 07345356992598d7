import { z } from 'zod'
import {
  chainId,
  label,
  listCursor,
  listLimit,
  nextCursor,
  timestamp,
  usdCap,
} from './primitives.js'

const permission = z.enum(['read', 'trade'])
const keyStatus = z.enum(['active', 'rotated_out', 'revoked'])
const allowedChains = z.array(chainId).min(1).max(6)
const unpricedAssets = z.enum(['deny', 'allow'])
const duplicateGuard = z.enum(['off', 'on'])

export const listInput = z.strictObject({
  limit: listLimit.optional(),
  cursor: listCursor.optional(),
})

export const user = z.looseObject({ user_id: z.string(), email: z.string().nullable() })

export const createWalletInput = z.strictObject({ name: label })
export const subWallet = z.looseObject({
  sub_wallet_id: z.string(),
  name: z.string(),
  addresses: z.looseObject({ evm: z.string() }),
  created_at: timestamp,
})
export const walletList = z.looseObject({
  wallets: z.array(subWallet),
  next_cursor: nextCursor,
})

export const createKeyInput = z.strictObject({
  name: label,
  sub_wallet_id: z.string().max(64),
  permission,
  daily_limit_usd: usdCap,
  monthly_limit_usd: usdCap,
  allowed_chains: allowedChains.optional().describe('default: all supported chains'),
  unpriced_assets: unpricedAssets.optional(),
  duplicate_guard: duplicateGuard.optional(),
})

export const apiKey = z.looseObject({
  key_id: z.string(),
  name: z.string(),
  permission,
  daily_limit_usd: z.string(),
  monthly_limit_usd: z.string(),
  allowed_chains: z.array(chainId),
  sub_wallet_id: z.string(),
  environment: z.enum(['live', 'test']),
  status: keyStatus,
  secret_prefix: z.string(),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
  rotated_from: z.string().nullable(),
  unpriced_assets: unpricedAssets,
  duplicate_guard: duplicateGuard,
})
export const issuedKey = apiKey.extend({ secret: z.string().describe('shown once') })
export const rotatedKey = issuedKey.extend({
  previous: z.looseObject({ key_id: z.string(), expires_at: timestamp }),
})
export const keyList = z.looseObject({ keys: z.array(apiKey), next_cursor: nextCursor })
export const keyIdInput = z.strictObject({ key_id: z.string().max(64) })
export const patchKeyInput = z.strictObject({
  key_id: z.string().max(64),
  name: label.optional(),
  daily_limit_usd: usdCap.optional(),
  monthly_limit_usd: usdCap.optional(),
  allowed_chains: allowedChains.optional(),
  unpriced_assets: unpricedAssets.optional(),
  duplicate_guard: duplicateGuard.optional(),
})

export const deleted = z.looseObject({ deleted: z.literal(true) })
