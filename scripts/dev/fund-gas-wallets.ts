import type { LocalAccount } from 'viem'
import { parseEther } from 'viem/utils'
import type { ChainsFile } from '../../src/config/chains.js'
import type { GasWalletsFile } from '../../src/defi/gas-wallets-file.js'
import { openChainWriter } from '../contracts/chain-writer.js'
import { fund } from './faucet.js'

/** Whole native coins: enough for months of development. */
const AMOUNT = '1000'
const LEAST = parseEther('100')

/** Refills gas wallets that have little left, as an operator would. */
export async function fundGasWallets(
  { chains }: ChainsFile,
  deployer: LocalAccount,
  wallets: GasWalletsFile,
): Promise<void> {
  await Promise.all(
    chains.map(async (chain) => {
      const [rpcUrl] = chain.rpc_urls
      if (rpcUrl === undefined) return
      const { client } = openChainWriter(rpcUrl, chain.id, deployer)
      for (const to of wallets[chain.id] ?? []) {
        if ((await client.getBalance({ address: to })) >= LEAST) continue
        await fund({ chain, deployer: deployer.address, to, amount: AMOUNT, token: 'native' })
      }
    }),
  )
}
