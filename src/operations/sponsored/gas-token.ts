import type { ChainAccess } from '../../chains/access.js'
import { BASE_CHAIN_ID } from '../../domain/chains.js'
import type { Address } from '../../domain/ids.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'

/**
 * The USDC that buys gas, only on Base (CONTRACT.md, "Gas").
 * @returns refusals: `GAS_SWAP_NOT_SUPPORTED`
 */
export function usdcForGas({ config }: ChainAccess): Result<Address> {
  const usdc = config.tokens.find(({ symbol }) => symbol === 'USDC')?.address
  if (config.id === BASE_CHAIN_ID && usdc !== undefined) return ok(usdc as Address)
  return refuse(fault('GAS_SWAP_NOT_SUPPORTED', { chain_id: config.id }))
}
