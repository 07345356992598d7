import { DEV_CHAINS } from '../../scripts/dev/chains/dev-chains.js'
import { devHome, prepareHome } from '../../scripts/dev/home/layout.js'
import { writeLastPorts } from '../../scripts/dev/ports.js'
import { freePort } from './ports.js'

/**
 * Has a home's first start take ports of this test process, as if it had had them before: the ones
 * that `npm start` prefers by itself are those of every other stack too.
 * @returns the port for the service
 */
export async function reserveStackPorts(home: string): Promise<number> {
  const chains: Record<string, number> = {}
  for (const { id } of DEV_CHAINS) chains[id] = await freePort()
  const layout = devHome({ COUNTERSIGN_HOME: home })
  prepareHome(layout)
  writeLastPorts(layout, {
    identity_provider: await freePort(),
    chains,
  })
  return freePort()
}
