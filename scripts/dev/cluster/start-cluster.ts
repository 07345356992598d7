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
import { watchOwner } from './watch-owner.js'

/** Behind the first node's, so that two clusters on a machine do not look at the same. */
const LINK_PORTS_AFTER = 100
const UNLINKED = 'without openssl there are no links between nodes: the owner alone answers'

export interface ClusterOptions extends InstanceOptions {
  /** How many nodes of each cell. */
  readonly size: number
  /** How many owners the users are dealt out to. */
  readonly cells: number
  readonly journal: EngineName
  readonly ask: Asked
}

/**
 * Whom callers ask who know nothing but `dev.json`: the owner of the user's cell, a node that waits for that, or
 * the owner of another cell.
 */
export type Asked = (typeof ASKED)[number]
export const ASKED = ['owner', 'standby', 'elsewhere'] as const

/** `dev.json` of a cluster: its addresses are of the node that is to be asked, its pids of the user's owner. */
export interface ClusterFile extends DevFile {
  readonly journal: EngineName
  /** Of the user's cell. */
  readonly journal_file: string
  /** Null: the identity provider has no standby. */
  readonly identity_standby: { readonly pid: number | null; readonly journal_file: string } | null
  readonly nodes: readonly {
    readonly base_url: string
    readonly cell: number
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
 * Starts chains, quorum signers, identity provider, the journal and the nodes. The first node of a cell
 * is its owner until the others' homes are made of its own, as on machines of their own. Whichever took its
 * journal last serves its users; the others wait for its end.
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
    // A standby takes no journal that is empty; and while there is no other home, none else could have it.
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
    watchOwner(
      () => running.filter((node) => node.cell === cell),
      (owner) => {
        const what = cells.length === 1 ? 'the journal' : `cell ${cell}`
        say(`node ${owner.number} owns ${what}, at ${owner.url}`)
        refreshDevFile()
      },
    ),
  )
  const ownersNow = () => watches.map(({ owner }) => owner)
  await shutdown.defer(() => stopAll(running, ownersNow))
  await shutdown.defer(async () => {
    await Promise.all(watches.map((watch) => watch.close()))
  })

  const owners: ClusterNode[] = []
  await timed('wallet services', async () => {
    for (const [cell, ofCell] of cells.entries()) {
      const [first] = ofCell
      const there = ofCell.filter((node) => node === first || isMade(node.home))
      const [{ home: from } = { home }] = owners
      for (const node of there) {
        if (node.number !== 1) await prepareNode(home, node.home, from, node === first)
      }
      await startNodes(there, { begun, running })
      const owner = await watches[cell]?.first()
      if (owner !== undefined) owners.push(owner)
    }
  })
  const [answering] = owners
  if (answering === undefined) throw new Error('a cluster has a cell')
  const wallet = await prepareWallet(begun, around, {
    baseUrl: answering.url,
    serviceHomes: owners.map((owner) => owner.home.root),
  })
  const userCell = cellOfSecret(wallet.keys.trade?.secret ?? '', cells.length)
  const missing = nodes.filter((node) => !running.includes(node))
  if (missing.length > 0) {
    await timed('further nodes', async () => {
      for (const node of missing) {
        await prepareNode(home, node.home, owners[node.cell]?.home ?? answering.home)
      }
      await tellRouters(home, around.chainsFile, {})
      await startNodes(missing, { begun, running })
    })
  }

  const dev = (): ClusterFile => {
    const present = ownersNow().map((owner, cell) => owner ?? owners[cell])
    const owner = present[userCell] ?? answering
    const asked = {
      owner,
      standby: options.ask === 'standby' ? lastStandby(cells[userCell] ?? nodes, owner) : owner,
      elsewhere: present.find((other) => other !== owner) ?? owner,
    }[options.ask]
    return {
      ...devFileOf({
        ...{ baseUrl: asked.url, made: wallet, user: around.user, issuer: around.issuer },
        authorizersUrl: `http://localhost:${around.identity.at}/authorizers`,
        chains: around.chainsFile.chains,
        pids: pidsOf(around, owner),
      }),
      journal: options.journal,
      journal_file: journalFiles[userCell] ?? journalFile,
      identity_standby:
        standby === null ? null : { pid: standby.pid, journal_file: pair?.journalFile ?? '' },
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
    const owner = () => watches[userCell]?.owner ?? answering
    await untilPassedOn(() => lastStandby(cells[userCell] ?? nodes, owner()))
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
  ownersNow: () => readonly (ClusterNode | null)[],
): Promise<void> {
  const owners = ownersNow().filter((owner) => owner !== null)
  const waiting = nodes.filter((node) => !owners.includes(node))
  await Promise.all(waiting.map(({ service }) => service.stop()))
  await Promise.all(owners.map(({ service }) => service.stop()))
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
