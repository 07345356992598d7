import { join } from 'node:path'
import { chainDir, type DevHome } from '../home/layout.js'
import type { ProcessObserver } from '../supervision/supervised-process.js'
import { type AnvilNode, startAnvil } from './anvil-node.js'
import type { DevChain } from './dev-chains.js'

/** Apart from the ports that people give their own nodes (8545 and up). */
const FIRST_PORT = 18_545

export interface StartChainsOptions {
  readonly home: DevHome
  readonly chains: readonly DevChain[]
  /** Each chain's port in the last run. */
  readonly lastPorts: Readonly<Record<string, number>>
  readonly claimedPorts: Set<number>
  readonly observer: ProcessObserver
}

/**
 * Starts all chains at once.
 * @throws StartFailure of the first that failed, after the others were stopped
 */
export async function startChains(options: StartChainsOptions): Promise<AnvilNode[]> {
  const { home, chains, lastPorts, claimedPorts, observer } = options
  const results = await Promise.allSettled(
    chains.map((chain, index) =>
      startAnvil({
        chainId: chain.id,
        name: `chain ${chain.id}`,
        dir: chainDir(home, chain.id),
        logPath: join(home.logs, `chain-${chain.id}.log`),
        preferredPort: lastPorts[chain.id] ?? FIRST_PORT + index,
        claimedPorts,
        observer,
      }),
    ),
  )
  const nodes = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) {
    await Promise.all(nodes.map((node) => node.stop()))
    throw failed.reason
  }
  return nodes
}
