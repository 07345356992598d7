import { getAddress, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openChainWriter } from '../../scripts/contracts/chain-writer.js'
import { connectChains } from '../../src/chains/access.js'
import { RpcCallError } from '../../src/chains/rpc/errors.js'
import { createContractReads } from '../../src/defi/contract-reads.js'
import {
  planConfiguration,
  planDeployment,
  type RouterPolicy,
  routerAddresses,
} from '../../src/defi/router-plan.js'
import { BASE_CHAIN_ID } from '../../src/domain/chain.js'
import { type SponsoredChain, startSponsoredChain } from '../contracts/sponsored-chain.js'
import { chainConfig } from '../support/chain-config.js'

let world: SponsoredChain

beforeAll(async () => {
  world = await startSponsoredChain()
})

afterAll(async () => {
  await world?.stop()
})

it('plans what a bare chain lacks, in an order that works, and then nothing more', async () => {
  const owner = privateKeyToAccount(generatePrivateKey())
  const writer = openChainWriter(world.anvil.url, world.chainId, owner)
  await writer.client.setBalance({ address: owner.address, value: parseEther('10') })
  const { chains, close } = connectChains([
    chainConfig(BASE_CHAIN_ID, { rpc_urls: [world.anvil.url] }),
  ])
  const chain = chains.get(world.chainId)
  if (chain === undefined) throw new Error('no chain')
  const reads = createContractReads((error): error is RpcCallError => error instanceof RpcCallError)
  const policy: RouterPolicy = {
    owner: owner.address,
    coSigner: world.coSigner,
    relayers: [world.relayer.account.address],
    feeRecipient: getAddress(world.feeRecipient),
    guardian: null,
    allowedCalls: world.world.allowedCalls,
  }
  const { router } = routerAddresses(owner.address)
  try {
    const deployment = await planDeployment(chain, owner.address)
    expect(deployment.map(({ sender }) => sender)).toEqual(['anyone', 'anyone'])
    await expect(planConfiguration(reads, chain, policy)).rejects.toThrow('does not answer')
    for (const { to, data } of deployment) await writer.send({ to, data })
    expect(await planDeployment(chain, owner.address)).toEqual([])

    const configuration = await planConfiguration(reads, chain, policy)
    expect(configuration.every(({ to, sender }) => to === router && sender === 'owner')).toBe(true)
    expect(configuration).toHaveLength(4)
    for (const { to, data } of configuration) await writer.send({ to, data })
    expect(await planConfiguration(reads, chain, policy)).toEqual([])
  } finally {
    await close()
  }
})
