import { join } from 'node:path'
import { type BegunInstance, beginInstance, type InstanceOptions } from '../begin-instance.js'
import { type DevFile, devFileOf } from '../dev-file.js'
import { claimPort } from '../free-port.js'
import { requireSocketsFit } from '../home/layout.js'
import { keepDevFile } from '../keep-dev-file.js'
import { writeLastPorts } from '../ports.js'
import {
  chainPorts,
  prepareWallet,
  type Surroundings,
  startSurroundings,
  tellRouters,
} from '../surroundings.js'
import { prepareIdentityPair } from './identity-pair.js'
import {
  cellFiles,
  cellOfSecret,
  type EngineName,
  refuseOtherEngine,
  requireEngine,
} from './journal-engine.js'
import { type ClusterNode, clusterNode, untilPassedOn } from './node.js'
import { clearHalfMade, giveRegistry, isMade, nodeHome, prepareNode } from './node-home.js'
import { makeNodeLinks } from './node-links.js'
import { watchLeader } from './watch-leader.js'

/** Apart from the first node's ports, so that two clusters on a machine do not collide. */
const LINK_PORTS_AFTER = 100
const UNLINKED = 'without openssl there are no links between nodes: only the leader answers'

export interface ClusterOptions extends InstanceOptions {
  /** The number of nodes per cell. */
  readonly size: number
  /** The number of cells, each with a leader of its own. */
  readonly cells: number
  readonly journal: EngineName
  readonly ask: Asked
}

/**
 * The node in `dev.json` for callers: the leader of the user's cell, a standby of it, or the leader
 * of another cell.
 */
export type Asked = (typeof ASKED)[number]
export const ASKED = ['owner', 'standby', 'elsewhere'] as const

/**
 * `dev.json` of a cluster: its address is that node's, its pids those of the leader of the user's
 * cell.
 */
export interface ClusterFile extends DevFile {
  readonly journal: EngineName
  /** The journal file of the user's cell. */
  readonly journal_file: string
  /** Null when the identity provider has no standby. */
  readonly identity_standby: { readonly pid: number | null; readonly journal_file: string } | null
  /** The first one, then its standby. Only the one that leads answers at its address. */
  readonly identity_providers: readonly { readonly pid: number | null; readonly base_url: string }[]
  readonly nodes: readonly {
    readonly base_url: string
    readonly cell: number
    readonly home: string
    readonly service: number | null
    readonly quorum_signer: number | null
    readonly owns_journal: boolean
    /** A standby with a link to the leader answers as the leader does. */
    readonly answers: boolean
  }[]
}

export interface Cluster {
  readonly dev: () => ClusterFile
}

/**
 * Starts chains, quorum signers, identity provider, the journal and the nodes. The first node of a
 * cell leads until the others' homes are made from its home, as on separate machines. The last
 * leader of a journal serves its users; the others are standbys.
 * @throws Error that says what failed, with the last lines of the process concerned
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const count = options.size * options.cells
  for (let number = 1; number <= count; number++) {
    requireSocketsFit(nodeHome(options.home, number))
  }
  const startEngine = await requireEngine(options.journal)
  const begun = await beginInstance(options)
  const { home, shutdown, timed, say } = begun
  const journalFile = join(home.root, 'journal.json')
  clearHalfMade(home)
  refuseOtherEngine(journalFile, options.journal)
  const ports = await nodePorts(begun, count)
  const pair = await timed("identity provider's journal", () => prepareIdentityPair(begun))
  const around = await startSurroundings(begun, ports, pair?.first)
  const standby = pair === null ? null : await timed('its standby', () => pair.startSecond(around))
  const providers =
    standby === null ? [around.identity.process] : [around.identity.process, standby]
  await timed('journal', () => startEngine(begun, journalFile))
  const journalFiles = cellFiles(journalFile, options.cells)
  writeLastPorts(home, {
    identity_provider: around.identity.at,
    chains: chainPorts(around.nodes),
    nodes: Object.fromEntries(ports.map((port, index) => [String(index + 1), port])),
  })

  const links = makeNodeLinks(home, await linkPorts(begun, count))
  const isLinkNeeded = options.ask !== 'owner' || options.cells > 1
  if (links === null && isLinkNeeded) throw new Error(UNLINKED)
  if (links === null) say(UNLINKED)
  const nodes = ports.map((port, index): ClusterNode => {
    const number = index + 1
    const cell = Math.floor(index / options.size)
    const others = Array.from({ length: options.size - 1 }, (_, at) =>
      nodeHome(home, cell * options.size + at + 2),
    )
    const isFirst = index % options.size === 0
    // A standby cannot lead an empty journal; while there is no other home, no other node could
    // lead.
    const role = () => (isFirst && !others.some(isMade) ? 'owner' : 'standby')
    const start = {
      ...{ number, cell, home: nodeHome(home, number), port, issuer: around.issuer, role },
      journalFile: journalFiles[cell] ?? journalFile,
      linkFile: links?.[index] ?? null,
      identityEnv: pair?.serviceEnv ?? {},
    }
    return clusterNode(begun, start, number === 1 ? around.quorum : undefined)
  })
  const cells = journalFiles.map((_, cell) => nodes.filter((node) => node.cell === cell))
  const running: ClusterNode[] = []
  let refreshDevFile = (): void => undefined
  const watches = cells.map((_, cell) =>
    watchLeader(
      () => running.filter((node) => node.cell === cell),
      (leader) => {
        const what = cells.length === 1 ? 'the journal' : `cell ${cell}`
        say(`node ${leader.number} owns ${what}, at ${leader.url}`)
        refreshDevFile()
      },
    ),
  )
  const leadersNow = () => watches.map(({ leader }) => leader)
  await shutdown.defer(() => stopAll(running, leadersNow))
  await shutdown.defer(async () => {
    await Promise.all(watches.map((watch) => watch.close()))
  })

  const leaders: ClusterNode[] = []
  await timed('wallet services', async () => {
    for (const [cell, ofCell] of cells.entries()) {
      const [first] = ofCell
      const there = ofCell.filter((node) => node === first || isMade(node.home))
      const [{ home: from } = { home }] = leaders
      for (const node of there) {
        if (node.number !== 1) await prepareNode(home, node.home, from, node === first)
      }
      await startNodes(there, { begun, running })
      const leader = await watches[cell]?.first()
      if (leader !== undefined) leaders.push(leader)
    }
  })
  const [answering] = leaders
  if (answering === undefined) throw new Error('a cluster has a cell')
  const wallet = await prepareWallet(begun, around, {
    baseUrl: answering.url,
    serviceHomes: leaders.map((leader) => leader.home.root),
  })
  const userCell = cellOfSecret(wallet.keys.trade?.secret ?? '', cells.length)
  const missing = nodes.filter((node) => !running.includes(node))
  if (missing.length > 0) {
    await timed('further nodes', async () => {
      for (const node of missing) {
        await prepareNode(home, node.home, leaders[node.cell]?.home ?? answering.home)
      }
      await tellRouters(home, around.chainsFile, {})
      await startNodes(missing, { begun, running })
    })
  }

  const dev = (): ClusterFile => {
    const present = leadersNow().map((leader, cell) => leader ?? leaders[cell])
    const leader = present[userCell] ?? answering
    const asked = {
      owner: leader,
      standby: options.ask === 'standby' ? lastStandby(cells[userCell] ?? nodes, leader) : leader,
      elsewhere: present.find((other) => other !== leader) ?? leader,
    }[options.ask]
    return {
      ...devFileOf({
        ...{ baseUrl: asked.url, made: wallet, user: around.user, issuer: around.issuer },
        authorizersUrl: `http://localhost:${around.identity.at}/authorizers`,
        chains: around.chainsFile.chains,
        pids: pidsOf(around, leader),
      }),
      journal: options.journal,
      journal_file: journalFiles[userCell] ?? journalFile,
      identity_standby:
        standby === null ? null : { pid: standby.pid, journal_file: pair?.journalFile ?? '' },
      identity_providers: providers.map(({ pid }, place) => ({
        ...{ pid, base_url: pair?.baseUrls[place] ?? around.issuer },
      })),
      nodes: nodes.map((node) => {
        const { url, cell, home: at, service, quorum } = node
        const owns = present.includes(node)
        return {
          ...{ base_url: url, cell, home: at.root, service: service.pid },
          ...{ quorum_signer: quorum.pid, owns_journal: owns, answers: links !== null || owns },
        }
      }),
    }
  }
  if (options.ask === 'standby') {
    const leader = () => watches[userCell]?.leader ?? answering
    await untilPassedOn(() => lastStandby(cells[userCell] ?? nodes, leader()))
  }
  refreshDevFile = await keepDevFile(begun, dev)
  begun.onRestarted(refreshDevFile)
  return { dev }
}

function lastStandby(nodes: readonly ClusterNode[], leader: ClusterNode): ClusterNode {
  const standby = nodes.filter((node) => node !== leader).at(-1)
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

/** Only the nodes use these ports, so they may differ at each start. */
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

/** Stops standbys first, so that none of them takes over from a node that is about to stop. */
async function stopAll(
  nodes: readonly ClusterNode[],
  leadersNow: () => readonly (ClusterNode | null)[],
): Promise<void> {
  const leaders = leadersNow().filter((leader) => leader !== null)
  const waiting = nodes.filter((node) => !leaders.includes(node))
  await Promise.all(waiting.map(({ service }) => service.stop()))
  await Promise.all(leaders.map(({ service }) => service.stop()))
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
