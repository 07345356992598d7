import type { LocalAccount } from 'viem'
import type { ChainsFile } from '../../../src/config/chains.js'
import type { RegisteredCoSigners } from '../../../src/defi/router-plan.js'
import type { Address } from '../../../src/domain/ids.js'
import { openChainWriter } from '../../contracts/chain-writer.js'
import { configureRouter } from '../../contracts/router-setup.js'

/** What only the service's own keys decide, so known after the worlds were built. */
export interface RouterKeys {
  /** Of each wallet service its own. */
  readonly coSigners: RegisteredCoSigners
  /** Gas wallets by chain id. */
  readonly relayers: Readonly<Record<string, readonly Address[]>>
}

/** Tells every Router whose signatures to take; may be repeated. Fees go to the deployer. */
export async function configureRouters(
  { chains }: ChainsFile,
  deployer: LocalAccount,
  { coSigners, relayers }: RouterKeys,
): Promise<void> {
  await Promise.all(
    chains.map(async (chain) => {
      const [rpcUrl] = chain.rpc_urls
      if (chain.router === null || chain.delegate === null || rpcUrl === undefined) return
      const writer = openChainWriter(rpcUrl, chain.id, deployer)
      const pair = { router: chain.router as Address, delegate: chain.delegate as Address }
      await configureRouter(writer, pair, {
        coSigners,
        relayers: relayers[chain.id] ?? [],
        feeRecipient: deployer.address,
        allowedCalls: [],
      })
    }),
  )
}
