import { Command, InvalidArgumentError, Option } from 'commander'
import { clusterBanner } from './cluster/cluster-banner.js'
import { ENGINES, type EngineName } from './cluster/journal-engine.js'
import { ASKED, type Asked, startCluster } from './cluster/start-cluster.js'
import { devHome } from './home/layout.js'
import { inForeground, portOf } from './in-foreground.js'
import { ensureDevPackages, NOT_INSTALLED_EXIT } from './packages/offer-install.js'

/**
 * `npm run cluster`: several nodes with a journal, and six chains, on this machine, until Ctrl-C.
 */
const DEFAULT_HOME = '.countersign-cluster'
const NODES_DEFAULT = 3
const NODES_MAX = 5
/** The number of cells whose processes a laptop can run. */
const CELLS_MAX = 3

const program = new Command('npm run cluster --')
  .description('Run a cluster on this machine: several wallet services, one of which leads.')
  .addOption(
    new Option('--journal <engine>', "the journal's engine").choices(ENGINES).default('postgres'),
  )
  .option('--nodes <number>', `nodes per cell, from 2 to ${NODES_MAX}`, sizeOption, NODES_DEFAULT)
  .option('--cells <number>', `cells, each with a leader, up to ${CELLS_MAX}`, cellsOption, 1)
  .addOption(
    new Option('--ask <node>', "the node whose address dev.json has; elsewhere: another cell's")
      .choices(ASKED)
      .default('owner'),
  )
  .option('--install', "install the chains' missing dependencies without asking")
  .addHelpText(
    'after',
    `
Environment: PORT of the first node (8080), COUNTERSIGN_HOME (./${DEFAULT_HOME}). The journal is in three
servers of Postgres 15 or later, from Debian's package or PATH, or in three nodes of Restate, which are
fetched from npm (240 MB; its license, BSL, lets them be run so). Each node has a home, a wallet service and
a quorum signer of its own; they share an identity provider and six chains. Commands of the command line
take it as the instance in its home: countersign --home ./${DEFAULT_HOME} balances.`,
  )
  .action((options: ClusterWishes) =>
    inForeground(async ({ shutdown, say, onRestart }) => {
      const environment = { COUNTERSIGN_HOME: process.env.COUNTERSIGN_HOME ?? DEFAULT_HOME }
      const home = devHome(environment)
      if (!(await ensureDevPackages(options.install === true, say))) {
        process.exit(NOT_INSTALLED_EXIT)
      }
      onRestart(() =>
        Promise.reject(new Error('in a cluster, stop a node instead: another one takes over')),
      )
      const port = portOf(process.env)
      const { journal, nodes: size, cells, ask } = options
      const { dev } = await startCluster({
        ...{ command: 'npm run cluster', home, port, shutdown, say, size, cells, journal, ask },
      })
      process.stdout.write(clusterBanner(dev(), home.root))
    }),
  )

interface ClusterWishes {
  readonly journal: EngineName
  readonly nodes: number
  readonly cells: number
  readonly ask: Asked
  readonly install?: true
}

function cellsOption(text: string): number {
  const cells = Number(text)
  if (/^\d$/.test(text) && cells >= 1 && cells <= CELLS_MAX) return cells
  throw new InvalidArgumentError(`give a number from 1 to ${CELLS_MAX}`)
}

function sizeOption(text: string): number {
  const size = Number(text)
  if (/^\d$/.test(text) && size >= 2 && size <= NODES_MAX) return size
  throw new InvalidArgumentError(`give a number from 2 to ${NODES_MAX}`)
}

await program.parseAsync()
