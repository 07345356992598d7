import { createRpcClient } from '../../src/chains/rpc/client.js'
import {
  planConfiguration,
  planDeployment,
  type RouterPolicy,
  type RouterStep,
  routerAddresses,
} from '../../src/defi/router-plan.js'
import type { RouterChain, RouterPair } from '../../src/defi/router-reads.js'
import type { ChainWriter } from './chain-writer.js'

/** On development chains one account owns the Router, makes its plans and sends them. */

/** Deploys missing Routers and delegates; the writer's account owns the Router. */
export async function deployRouter(writer: ChainWriter): Promise<RouterPair> {
  const { address } = writer.account
  await carryOut(writer, (chain) => planDeployment(chain, address))
  return routerAddresses(address)
}

/** Applies a policy to the Router; may be repeated. The writer's account must own the Router. */
export async function configureRouter(
  writer: ChainWriter,
  pair: RouterPair,
  policy: Omit<RouterPolicy, 'owner' | 'guardian'>,
): Promise<void> {
  const owner = writer.account.address
  await carryOut(writer, (chain) =>
    planConfiguration(chain, pair, { ...policy, owner, guardian: null }),
  )
}

async function carryOut(
  writer: ChainWriter,
  plan: (chain: RouterChain) => Promise<RouterStep[]>,
): Promise<void> {
  const { chainId, rpcUrl } = writer
  const rpc = createRpcClient({ chainId, endpoints: [rpcUrl] })
  try {
    for (const { to, data } of await plan({ chainId, rpc })) await writer.send({ to, data })
  } finally {
    await rpc.close()
  }
}
