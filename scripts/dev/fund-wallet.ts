import type { ChainConfig } from '../../src/config/chains.js'
import { BALANCE_OF } from '../../src/contracts/selectors.js'
import type { Address } from '../../src/domain/ids.js'
import { rpcBatch } from './chains/json-rpc.js'
import { fund } from './faucet.js'

const NATIVE_AMOUNT = '10'
const USDC_AMOUNT = '50000'

/**
 * Gives an empty wallet its first money on one chain.
 * @returns true when it was funded
 */
export async function fundEmptyWallet(
  chain: ChainConfig,
  deployer: Address,
  wallet: Address,
): Promise<boolean> {
  const [rpcUrl] = chain.rpc_urls
  const usdc = chain.tokens.find(({ symbol }) => symbol === 'USDC')
  if (rpcUrl === undefined || usdc === undefined) {
    throw new Error(`chain ${chain.id} has no RPC URL or no USDC`)
  }
  const data = `${BALANCE_OF}${wallet.slice(2).padStart(64, '0')}`
  const balances = await rpcBatch(rpcUrl, [
    { method: 'eth_getBalance', params: [wallet, 'latest'] },
    { method: 'eth_call', params: [{ to: usdc.address, data }, 'latest'] },
  ])
  if (balances.some((balance) => BigInt(String(balance)) > 0n)) return false
  const request = { chain, deployer, to: wallet }
  await fund({ ...request, token: 'native', amount: NATIVE_AMOUNT })
  await fund({ ...request, token: 'USDC', amount: USDC_AMOUNT })
  return true
}
