import type { LocalAccount } from 'viem'
import { parseEther } from 'viem/utils'
import { openChainWriter } from '../../contracts/chain-writer.js'
import type { AnvilNode } from '../chains/anvil-node.js'
import type { DevChain } from '../chains/dev-chains.js'
import { WORLD_STEPS } from './steps.js'
import {
  EMPTY_WORLD,
  type FinishedWorld,
  finishedWorld,
  readWorld,
  type World,
  writeWorld,
} from './world.js'

/** The deployer never runs out of money, because it is also the faucet. */
const DEPLOYER_BALANCE = parseEther('1000000000')
const DEPLOYER_BALANCE_MIN = parseEther('100000000')

export interface BuildWorldOptions {
  readonly chain: DevChain
  readonly node: AnvilNode
  readonly dir: string
  readonly deployer: LocalAccount
}

/**
 * Runs the missing steps of this chain's world; a complete world costs two reads.
 * @returns the world, and how many steps were run
 */
export async function buildWorld(
  options: BuildWorldOptions,
): Promise<{ world: FinishedWorld; built: number }> {
  const { chain, node, dir, deployer } = options
  const writer = openChainWriter(node.rpcUrl, chain.id, deployer)
  const { client } = writer
  let world: World = readWorld(dir) ?? EMPTY_WORLD
  const probe = world.tokens?.usdc
  // The record outlived the chain's state, so its contracts are gone.
  if (probe && !(await client.getCode({ address: probe }))) world = EMPTY_WORLD

  if ((await client.getBalance({ address: deployer.address })) < DEPLOYER_BALANCE_MIN) {
    await client.setBalance({ address: deployer.address, value: DEPLOYER_BALANCE })
  }
  let built = 0
  for (const step of WORLD_STEPS) {
    if (world[step.field] !== undefined) continue
    world = {
      ...world,
      ...(await step.build({ chain, rpcUrl: node.rpcUrl, deployer, writer }, world)),
    }
    built++
  }
  // Building a world resets the balance.
  await client.setBalance({ address: deployer.address, value: DEPLOYER_BALANCE })
  if (built > 0) {
    // The state is saved first: a record without its contracts would be trusted.
    await node.snapshots.save()
    writeWorld(dir, world)
  }
  return { world: finishedWorld(world), built }
}
