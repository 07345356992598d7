import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { accountsOfCells } from '../../bench/accounts-of-cells.js'
import { numberOf } from '../../bench/child-process.js'
import { SINK_CHAIN, sinkChainsFile } from '../../bench/sink-chains.js'
import { startChainSink } from '../../bench/sink-stack.js'
import { makeAuthority } from '../../scripts/dev/certificates.js'
import { enrolNode } from '../../scripts/dev/cluster/enrol-node.js'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { makeNodeHome } from '../../src/cli/operator/make-node-home.js'
import { registryPath } from '../../src/custody/domain-keys/layout.js'
import { readRegistryFile, writeRegistryFile } from '../../src/custody/domain-keys/registry-file.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { type HttpClient, httpClient } from '../support/http-client.js'
import { freePort } from '../support/ports.js'
import { createPostgres } from '../support/postgres-server.js'
import { type SmallDisk, smallDisk } from '../support/small-disk.js'
import { layWire, type Wire } from './cut-wire.js'
import { type Engine, type EngineName, startPostgres, startRestate } from './engines.js'
import { type KeptProcess, keepProcess } from './kept-process.js'
import { identityLeader, leaderOf, nodesAreWhole } from './whole.js'

/** One of two machines with a wallet service and a quorum signer, and the wires that lead away from it. */
export interface Node {
  readonly home: string
  readonly url: string
  /** By which it reaches the engine. */
  readonly journalFile: string
  readonly service: KeptProcess
  readonly quorum: KeptProcess
  readonly toEngine: readonly Wire[]
  readonly toIdentity: readonly Wire[]
  /** By which the other node reaches it. */
  readonly fromPeer: Wire
  /** Sets the clock of the machine: so much ahead of what it is. */
  shiftClock(aheadMs: number): void
}

/** One of two machines with an identity provider. */
export interface Identity {
  readonly home: string
  readonly metricsUrl: string
  readonly process: KeptProcess
}

export interface User {
  readonly email: string
  /** Faults are aimed at the first. */
  readonly cell: number
  /** At whichever node: of each its own. */
  console(url: string): HttpClient
  readonly token: string
}

export interface World {
  readonly engine: Engine
  /** Of the first cell. */
  readonly nodes: readonly [Node, Node]
  /** Of all cells, whichever callers ask; a second cell has one. */
  readonly all: readonly Node[]
  readonly identities: readonly [Identity, Identity]
  readonly users: readonly User[]
  readonly chainId: number
  readonly sinkUrl: string
  /** The second node's home is on it, where it was wished for. */
  readonly disk: SmallDisk | null
  /** @throws where there is none */
  leader(): Promise<Node>
  identity(): Promise<Identity>
  /**
   * Until both of each kind are there, one serves and the other has all that it has.
   * @param timeoutMs by default what a machine needs that has some other work
   */
  whole(timeoutMs?: number): Promise<void>
  /** What all processes said last, for a person. */
  said(): string
  stop(): Promise<void>
}

export interface WorldWishes {
  readonly engine: EngineName
  /** Whether the second node's home is on a small disk. */
  readonly isDiskSmall: boolean
  /** One, or two with the users dealt out to them. */
  readonly cells: 1 | 2
}

/** What its processes said last is kept apart: it is long. */
export class WorldError extends Error {
  readonly said: string
  constructor(message: string, said: string, cause: unknown) {
    super(`${message}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.said = said
  }
}

const SERVICE = 'dist/src/main.js'
const IDENTITY = 'dist/src/identity-provider/main.js'
/** Of a node's machine, whose clock can be set. */
const SHIFTED_CLOCK = ['--import', new URL('../support/shifted-clock.mjs', import.meta.url).href]
const QUORUM = 'dist/src/quorum-signer/main.js'
const USERS = ['one', 'two']
const CELLS = ['0-11', '12-23'] as const
/** Of a world of one cell. */
const ALL = ['0-23']
const PASSWORD = 'correct horse battery staple'
const COMES_UP = { timeout: 120_000, interval: 100 }
const LOOKS_MAX = 100

/** @throws Error with what its processes said, when it does not come up; nothing is left running */
export async function startWorld(wishes: WorldWishes): Promise<World> {
  const ends: (() => unknown)[] = []
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  const kept: KeptProcess[] = []
  const said = () => kept.map((it) => `--- ${it.name}\n${it.said()}`).join('\n')
  try {
    return await raise(wishes, { kept, said, stop, later: (end) => void ends.push(end) })
  } catch (error) {
    await stop()
    throw new WorldError('it did not come up', said(), error)
  }
}

interface Ground {
  readonly kept: KeptProcess[]
  readonly said: () => string
  readonly stop: () => Promise<void>
  later(end: () => unknown): void
}

async function raise(wishes: WorldWishes, ground: Ground): Promise<World> {
  const { engine: name, isDiskSmall, cells } = wishes
  const { kept, said, stop, later } = ground
  const directory = mkdtempSync(join(tmpdir(), 'cs-cluster-faults-'))
  later(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }))
  const disk = isDiskSmall ? smallDisk() : null
  later(() => disk?.remove())
  const homes = [
    join(directory, '1'),
    join(disk?.directory ?? directory, '2'),
    join(directory, '3'),
  ] as const
  const userHomes = [homes[0], join(directory, 'u2')] as const
  mkdirSync(homes[0], { mode: 0o700 })
  const write = (file: string, content: object): string => {
    const path = join(directory, file)
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 })
    return path
  }
  const keep = (...args: Parameters<typeof keepProcess>): KeptProcess => {
    const made = keepProcess(...args)
    kept.push(made)
    later(() => made.remove())
    return made
  }
  const wire = async (ports: readonly number[]): Promise<Wire> => {
    const laid = await layWire(ports)
    later(() => laid.close())
    return laid
  }

  const ending = async <T>(made: Promise<T>, end: (it: T) => unknown): Promise<T> => {
    const it = await made
    later(() => end(it))
    return it
  }
  const journal = name === 'postgres' ? startPostgres() : startRestate(directory)
  const [sink, engine, userJournal] = await Promise.all([
    ending(startChainSink(), (it) => it.kill()),
    ending(journal, (it) => it.remove()),
    ending(createPostgres(), (it) => it.remove()),
  ])
  kept.push(...engine.handlers)
  const sinkUrl = `http://127.0.0.1:${numberOf(sink, 'port')}`
  writeFileSync(join(homes[0], 'chains.json'), JSON.stringify(sinkChainsFile(sinkUrl)))
  await provisionDev(homes[0])
  const accounts = await accountsOf(homes[0], cells)

  const authority = makeAuthority(directory, 'authority')
  const linkPorts = [await freePort(), await freePort()] as const
  const loginPorts = [await freePort(), await freePort()] as const
  const front = await wire(loginPorts)
  const issuer = `http://127.0.0.1:${front.port}`
  const files = (issued: { certificate: string; key: string }) => ({
    ...issued,
    authority: authority.certificate,
  })
  const userJournalFile = write('user-journal.json', { postgres: [userJournal.url] })
  const identityAt = async (index: 0 | 1): Promise<() => Identity> => {
    const names = { usage: 'serverAuth', names: 'DNS:identity' } as const
    const listen = `127.0.0.1:${linkPorts[index]}`
    const link = { listen, ...files(authority.issue(`u${index + 1}`, names)) }
    const linkFile = write(`u${index + 1}.json`, link)
    const metricsPort = await freePort()
    const home = userHomes[index]
    return () => {
      let isFirst = index === 0
      const env = () => {
        const role = isFirst ? 'owner' : 'standby'
        isFirst = false
        return {
          ...{ COUNTERSIGN_HOME: home, IDENTITY_JOURNAL_FILE: userJournalFile },
          ...{ IDENTITY_JOURNAL_ROLE: role, IDENTITY_PUBLIC_ISSUER: issuer },
          ...{ IDENTITY_LINK_FILE: linkFile, IDENTITY_PORT: String(loginPorts[index]) },
          IDENTITY_METRICS_PORT: String(metricsPort),
        }
      }
      const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`
      return { home, metricsUrl, process: keep(`identity provider ${index + 1}`, IDENTITY, env) }
    }
  }
  const nodeAt = async (index: 0 | 1 | 2): Promise<() => Node> => {
    const number = index + 1
    const dealtOut = cells === 1 ? {} : { cells: CELLS, cell: index === 2 ? 1 : 0 }
    const home = homes[index]
    const toEngine = await Promise.all(engine.ports.map((port) => wire([port])))
    const journalFile = write(`journal-${number}.json`, {
      ...engine.file(toEngine.map((it) => it.port)),
      ...dealtOut,
    })
    const toIdentity = await Promise.all(linkPorts.map((port) => wire([port])))
    const [address, ...others] = toIdentity.map((it) => `127.0.0.1:${it.port}`)
    const identityLink = write(`s${number}-u.json`, {
      ...{ address, others, server_name: 'identity' },
      ...files(authority.issue(`s${number}`, { usage: 'clientAuth' })),
    })
    const listenPort = await freePort()
    const fromPeer = await wire([listenPort])
    const nodeNames = { usage: 'serverAuth,clientAuth', names: 'IP:127.0.0.1' } as const
    const nodeLink = write(`node-${number}.json`, {
      ...{ listen: `127.0.0.1:${listenPort}`, address: `127.0.0.1:${fromPeer.port}` },
      ...files(authority.issue(`node-${number}`, nodeNames)),
    })
    const port = await freePort()
    const clockFile = join(directory, `clock-${number}`)
    const machine = { SHIFTED_CLOCK_FILE: clockFile }
    return () => {
      let isFirst = index !== 1
      const env = () => {
        const role = isFirst ? 'owner' : 'standby'
        isFirst = false
        return {
          ...{ ...machine, COUNTERSIGN_HOME: home, PORT: String(port), IDENTITY_ISSUER: issuer },
          ...{ COUNTERSIGN_JOURNAL_FILE: journalFile, COUNTERSIGN_JOURNAL_ROLE: role },
          ...{ COUNTERSIGN_NODE_LINK_FILE: nodeLink, COUNTERSIGN_WORKERS: '2' },
          COUNTERSIGN_IDENTITY_LINK_FILE: identityLink,
          COUNTERSIGN_RATE_PER_SECOND: '1000000',
          ...(index === 1 && disk !== null
            ? { COUNTERSIGN_DISK_FREE_MIN_MIB: String(disk.floorMib) }
            : {}),
        }
      }
      const own = { ...machine, COUNTERSIGN_HOME: home }
      const shiftClock = (aheadMs: number) => {
        writeFileSync(`${clockFile}.next`, String(aheadMs))
        renameSync(`${clockFile}.next`, clockFile)
      }
      return {
        ...{ home, url: `http://127.0.0.1:${port}`, toEngine, toIdentity, fromPeer, journalFile },
        shiftClock,
        quorum: keep(`quorum signer ${number}`, QUORUM, () => own, [], SHIFTED_CLOCK),
        service: keep(`wallet service ${number}`, SERVICE, env, [], SHIFTED_CLOCK),
      }
    }
  }

  const firstIdentity = (await identityAt(0))()
  await expect.poll(() => identityLeader([firstIdentity]), COMES_UP).not.toBeNull()
  const firstNode = (await nodeAt(0))()
  await expect.poll(() => leaderOf([firstNode]), COMES_UP).not.toBeNull()
  const users = await Promise.all(
    accounts.map(async ({ email, cell }): Promise<User> => {
      const token = await mintConsoleToken({ issuer, email, password: PASSWORD })
      const headers = { authorization: `Bearer ${token}` }
      return { email, cell, token, console: (url) => httpClient(`${url}/api/v1/agent`, headers) }
    }),
  )
  // As its operator does once there is something to take over: of a role that takes the journal back it would
  // leave it to nobody.
  await users[0]?.console(firstNode.url).post('/wallets', { name: 'the first' })
  await firstNode.service.restart()
  await expect.poll(() => leaderOf([firstNode]), COMES_UP).not.toBeNull()
  const beginSecond = await nodeAt(1)
  await prepareNode(homes[0], homes[1])
  await makeNodeHome(homes[0], 'user', userHomes[1])
  mkdirSync(join(userHomes[1], 'run'), { mode: 0o700 })
  const nodes = [firstNode, beginSecond()] as const
  const others = cells === 1 ? [] : [await secondCell(homes, () => nodeAt(2))]
  const identities = [firstIdentity, (await identityAt(1))()] as const
  const whole = async (timeout = COMES_UP.timeout) => {
    const inTime = { ...COMES_UP, timeout }
    await expect.poll(() => nodesAreWhole(nodes, identities), inTime).toEqual('whole')
    if (others.length > 0) await expect.poll(() => leaderOf(others), inTime).not.toBeNull()
  }
  await whole()
  return {
    ...{
      engine,
      nodes,
      all: [...nodes, ...others],
      identities,
      users,
      sinkUrl,
      disk,
      whole,
      said,
      stop,
    },
    chainId: SINK_CHAIN,
    leader: () => found(() => leaderOf(nodes), 'no node owns the journal'),
    identity: () =>
      found(() => identityLeader(identities), 'no identity provider owns its journal'),
  }
}

/** A machine with other work may leave a look without an answer. */
async function found<T>(look: () => Promise<T | null>, missing: string): Promise<T> {
  for (let left = LOOKS_MAX; left > 0; left--) {
    const it = await look()
    if (it !== null) return it
    await delay(COMES_UP.interval)
  }
  throw new Error(missing)
}

async function secondCell(
  homes: readonly [string, string, string],
  beginAt: () => Promise<() => Node>,
): Promise<Node> {
  await prepareNode(homes[0], homes[2], true)
  // Those of the first cell hear of its quorum signer as well.
  writeRegistryFile(registryPath(homes[1]), readRegistryFile(registryPath(homes[0])))
  const node = (await beginAt())()
  await expect.poll(() => leaderOf([node]), COMES_UP).not.toBeNull()
  return node
}

/** Two: of the one cell, or one of each. */
async function accountsOf(home: string, cells: 1 | 2) {
  const dealtOut = cells === 1 ? USERS.map(() => ALL) : [CELLS]
  const emails = await Promise.all(
    dealtOut.map((each, index) => accountsOfCells(home, each, USERS[index] ?? '', PASSWORD)),
  )
  return emails.flat().map((email, index) => ({ email, cell: cells === 1 ? 0 : index }))
}

/** What an operator does on a new machine: a copy of the home, with a co-signer key and a quorum signer of its own. */
async function prepareNode(from: string, home: string, isOfNewCell = false): Promise<void> {
  await makeNodeHome(from, 'service', home, isOfNewCell)
  mkdirSync(join(home, 'run'), { mode: 0o700 })
  await enrolNode(from, home, ['service', 'quorum'])
}
