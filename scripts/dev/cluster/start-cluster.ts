import { join } from 'node:path'
import { type BegunInstance, beginInstance, type InstanceOptions } from '../begin-instance.js'
import { type DevFile, devFileOf } from '../dev-file.js'
import { claimPort } from '../free-port.js'
import { requireSocketsFit } from '../home/layout.js'
import { keepDevFile } from '../keep-dev-file.js'
import { writeLastPorts } from '../ports.js'
import { chainPorts, prepareWallet, type Surroundings, startSurroundings } from '../surroundings.js'
import { prepareIdentityPair } from './identity-pair.js'
import { type EngineName, refuseOtherEngine, requireEngine } from './journal-engine.js'
import { type ClusterNode, clusterNode, untilPassedOn } from './node.js'
import { clearHalfMade, giveRegistry, isMade, nodeHome, prepareNode } from './node-home.js'
import { makeNodeLinks } from './node-links.js'
import { watchOwner } from './watch-owner.js'

/** Behind the first node's, so that two clusters on a machine do not look at the same. */
const LINK_PORTS_AFTER = 100
const UNLINKED = 'without openssl there are no links between nodes: the owner alone answers'

export interface ClusterOptions extends InstanceOptions {
  /** How many nodes. */
  readonly size: number
  readonly journal: EngineName
  readonly ask: Asked
}

/** Whom callers ask who know nothing but `dev.json`: the owner of the journal, or a node that passes on to it. */
export type Asked = (typeof ASKED)[number]
export const ASKED = ['owner', 'standby'] as const

/** `dev.json` of a cluster: its addresses are of the node that is to be asked, its pids of the owner. */
export interface ClusterFile extends DevFile {
  readonly journal: EngineName
  readonly journal_file: string
  /** Null: the identity provider has no standby. */
  readonly identity_standby: { readonly pid: number | null; readonly journal_file: string } | null
  readonly nodes: readonly {
    readonly base_url: string
    readonly home: string
    readonly service: number | null
    readonly quorum_signer: number | null
    readonly owns_journal: boolean
    /** A standby that has a link to the owner answers as that one does. */
    readonly answers: boolean
  }[]
}

export interface Cluster {
  readonly dev: () => ClusterFile
}

/**
 * Starts chains, quorum signers, identity provider, the journal and the nodes. The first node
 * is the journal's owner until the others' homes are made of its own, as on machines of their own. Whichever took the journal last serves; the others wait for its end.
 * @throws Error that says what failed, with the last lines of the process concerned
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  for (let number = 1; number <= options.size; number++) {
    requireSocketsFit(nodeHome(options.home, number))
  }
  const startEngine = await requireEngine(options.journal)
  const begun = await beginInstance(options)
  const { home, shutdown, timed, say } = begun
  const journalFile = join(home.root, 'journal.json')
  clearHalfMade(home)
  refuseOtherEngine(journalFile, options.journal)
  const ports = await nodePorts(begun, options.size)
  const pair = await timed("identity provider's journal", () => prepareIdentityPair(begun))
  const around = await startSurroundings(begun, ports, pair?.first)
  const standby = pair === null ? null : await timed('its standby', () => pair.startSecond(around))
  await timed('journal', () => startEngine(begun, journalFile))
  writeLastPorts(home, {
    identity_provider: around.identity.at,
    chains: chainPorts(around.nodes),
    nodes: Object.fromEntries(ports.map((port, index) => [String(index + 1), port])),
  })

  const links = makeNodeLinks(home, await linkPorts(begun, options.size))
  if (links === null && options.ask === 'standby') throw new Error(UNLINKED)
  if (links === null) say(UNLINKED)
  const others = ports.slice(1).map((_, index) => nodeHome(home, index + 2))
  const nodes = ports.map((port, index): ClusterNode => {
    const number = index + 1
    const at = nodeHome(home, number)
    // A standby takes no journal that is empty; and while there is no other home, none else could have it.
    const role = () => (number > 1 || others.some(isMade) ? 'standby' : 'owner')
    const linkFile = links?.[index] ?? null
    const start = {
      ...{ number, home: at, port, issuer: around.issuer, journalFile, linkFile, role },
      identityEnv: pair?.serviceEnv ?? {},
    }
    return clusterNode(begun, start, number === 1 ? around.quorum : undefined)
  })
  const running: ClusterNode[] = []
  let refreshDevFile = (): void => undefined
  const watch = watchOwner(
    () => running,
    (owner) => {
      say(`node ${owner.number} owns the journal, at ${owner.url}`)
      refreshDevFile()
    },
  )
  await shutdown.defer(() => stopAll(running, () => watch.owner))
  await shutdown.defer(() => watch.close())

  const [first, ...further] = nodes
  if (first === undefined) throw new Error('a cluster has a node')
  const made = further.filter((node) => isMade(node.home))
  for (const node of made) await prepareNode(home, node.home, home)
  await timed('wallet services', async () => {
    await startNodes([first, ...made], { begun, running })
    await watch.first()
  })
  const answering = await watch.first()
  const wallet = await prepareWallet(begun, around, {
    baseUrl: answering.url,
    serviceHome: answering.home.root,
  })
  const missing = further.filter((node) => !made.includes(node))
  if (missing.length > 0) {
    await timed('further nodes', async () => {
      for (const node of missing) await prepareNode(home, node.home, answering.home)
      await startNodes(missing, { begun, running })
    })
  }

  const dev = (): ClusterFile => {
    const owner = watch.owner ?? answering
    const asked = options.ask === 'owner' ? owner : lastStandby(nodes, owner)
    return {
      ...devFileOf({
        ...{ baseUrl: asked.url, made: wallet, user: around.user, issuer: around.issuer },
        authorizersUrl: `http://localhost:${around.identity.at}/authorizers`,
        chains: around.chainsFile.chains,
        pids: pidsOf(around, owner),
      }),
      journal: options.journal,
      journal_file: journalFile,
      identity_standby:
        standby === null ? null : { pid: standby.pid, journal_file: pair?.journalFile ?? '' },
      nodes: nodes.map(({ url, home: at, service, quorum }) => ({
        ...{ base_url: url, home: at.root, service: service.pid, quorum_signer: quorum.pid },
        ...{ owns_journal: url === owner.url, answers: links !== null || url === owner.url },
      })),
    }
  }
  if (options.ask === 'standby') {
    await untilPassedOn(() => lastStandby(nodes, watch.owner ?? answering))
  }
  refreshDevFile = await keepDevFile(begun, dev)
  begun.onRestarted(refreshDevFile)
  return { dev }
}

function lastStandby(nodes: readonly ClusterNode[], owner: ClusterNode): ClusterNode {
  const standby = nodes.filter((node) => node !== owner).at(-1)
  if (standby === undefined) throw new Error('a cluster has a standby')
  return standby
}

async function nodePorts(
  { port, lastPorts, claimedPorts }: BegunInstance,
  size: number,
): Promise<number[]> {
  const ports = [port]
  for (let number = 2; number <= size; number++) {
    ports.push(await claimPort(lastPorts.nodes?.[number] ?? port + number - 1, claimedPorts))
  }
  return ports
}

/** Of no use to anybody but the nodes, so that they may be others at each start. */
async function linkPorts({ port, claimedPorts }: BegunInstance, size: number): Promise<number[]> {
  const ports: number[] = []
  for (let number = 1; number <= size; number++) {
    ports.push(await claimPort(port + LINK_PORTS_AFTER, claimedPorts))
  }
  return ports
}

/** All of them are in the registry before any of them starts. */
async function startNodes(
  nodes: readonly ClusterNode[],
  { begun, running }: { readonly begun: BegunInstance; readonly running: ClusterNode[] },
): Promise<void> {
  running.push(...nodes)
  for (const node of running) if (node.number !== 1) giveRegistry(begun.home, node.home)
  await Promise.all(
    nodes.map(async ({ number, quorum, service }) => {
      if (number !== 1) await quorum.start()
      await service.start()
    }),
  )
}

/** Those that wait first: none of them takes over what is about to end. */
async function stopAll(
  nodes: readonly ClusterNode[],
  ownerNow: () => ClusterNode | null,
): Promise<void> {
  const owner = ownerNow()
  await Promise.all(nodes.filter((node) => node !== owner).map(({ service }) => service.stop()))
  await owner?.service.stop()
  await Promise.all(nodes.filter(({ number }) => number !== 1).map(({ quorum }) => quorum.stop()))
}

function pidsOf({ identity, nodes }: Surroundings, { service, quorum }: ClusterNode) {
  return {
    service: service.pid,
    identity_provider: identity.process.pid,
    quorum_signer: quorum.pid,
    chains: Object.fromEntries(nodes.map((node) => [String(node.chainId), node.process.pid])),
  }
}
