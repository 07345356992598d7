import type { LocalAccount } from 'viem'
import type { ChainsFile } from '../../../src/config/chains.js'
import type { RegisteredCoSigners } from '../../../src/defi/router-plan.js'
import type { Address } from '../../../src/domain/ids.js'
import { openChainWriter } from '../../contracts/chain-writer.js'
import { configureRouter } from '../../contracts/router-setup.js'

/**
 * Settings that depend on the service's own keys, and so are known only after the worlds are built.
 */
export interface RouterKeys {
  /** Each wallet service's own co-signer keys. */
  readonly coSigners: RegisteredCoSigners
  /** Gas wallets by chain id. */
  readonly relayers: Readonly<Record<string, readonly Address[]>>
}

/** Tells every Router which signatures to accept; may be repeated. Fees go to the deployer. */
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
