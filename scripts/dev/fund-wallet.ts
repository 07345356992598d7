import type { LocalAccount } from 'viem'
import type { ChainConfig } from '../../src/config/chains.js'
import { erc20Abi } from '../../src/contracts/abis/erc20.js'
import type { Address } from '../../src/domain/ids.js'
import { openChainWriter } from '../contracts/chain-writer.js'
import { fund } from './faucet.js'

const NATIVE_AMOUNT = '10'
const USDC_AMOUNT = '50000'

/**
 * Gives the wallet its first money on one chain; one that has any keeps what it has.
 * @returns true when it was funded
 */
export async function fundEmptyWallet(
  chain: ChainConfig,
  deployer: LocalAccount,
  wallet: Address,
): Promise<boolean> {
  const [rpcUrl] = chain.rpc_urls
  const usdc = chain.tokens.find(({ symbol }) => symbol === 'USDC')
  if (rpcUrl === undefined || usdc === undefined) {
    throw new Error(`chain ${chain.id} has no RPC URL or no USDC`)
  }
  const { client } = openChainWriter(rpcUrl, chain.id, deployer)
  const [native, tokens] = await Promise.all([
    client.getBalance({ address: wallet }),
    client.readContract({
      address: usdc.address as Address,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [wallet],
    }),
  ])
  if (native > 0n || tokens > 0n) return false
  const request = { chain, deployer, to: wallet }
  await fund({ ...request, token: 'native', amount: NATIVE_AMOUNT })
  await fund({ ...request, token: 'USDC', amount: USDC_AMOUNT })
  return true
}
