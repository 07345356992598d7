import { z } from 'zod'
import { chainId } from './primitives.js'
import { nativeBalance, tokenBalances } from './wallet.js'

/** What a sub-wallet has, for its owner. */

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
