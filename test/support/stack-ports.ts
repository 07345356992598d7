import { DEV_CHAINS } from '../../scripts/dev/chains/dev-chains.js'
import { devHome, prepareHome } from '../../scripts/dev/home/layout.js'
import { writeLastPorts } from '../../scripts/dev/ports.js'
import { freePort } from './ports.js'

/**
 * Makes a home's first start use ports of this test process, as if it had used them before: every
 * other stack also prefers the default ports of `npm start`.
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
