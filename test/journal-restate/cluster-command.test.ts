import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { devHome, prepareHome } from '../../scripts/dev/home/layout.js'
import { writeRestatePorts } from '../../scripts/dev/restate/journal-nodes.js'
import { describeClusterCommand } from '../support/cluster-command.js'
import { freePort } from '../support/ports.js'

describeClusterCommand('restate', { prepare })

/** The ports that it prefers by itself are those of every other cluster too. */
async function prepare(home: string): Promise<void> {
  prepareHome(devHome({ COUNTERSIGN_HOME: home }))
  const node = async () => ({
    ...{ ingress: await freePort(), admin: await freePort(), node: await freePort() },
  })
  const directory = join(home, 'restate')
  mkdirSync(directory)
  writeRestatePorts(directory, {
    nodes: [await node(), await node(), await node()],
    handler: await freePort(),
    handlers: [await freePort(), await freePort()],
  })
}
