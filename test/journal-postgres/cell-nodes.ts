import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountsOfCells } from '../../bench/accounts-of-cells.js'
import { type Child, startChild } from '../../bench/child-process.js'
import { freePort } from '../../bench/free-port.js'
import { issuerOf, type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import { giveRegistry, prepareNode } from '../../scripts/dev/cluster/node-home.js'
import { devHome } from '../../scripts/dev/home/layout.js'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { type HttpClient, httpClient } from '../support/http-client.js'
import { createPostgres, type PostgresServer } from '../support/postgres-server.js'
import { linksOf } from './standby-pair.js'

const CELLS = ['0-11', '12-23'] as const

/** A wallet service with a quorum signer of its own. */
interface CellNode {
  readonly home: string
  readonly url: string
  /** What its service is told; commands on its home are told it as well. */
  readonly env: Readonly<Record<string, string>>
  readonly quorumPid: number
  /** Resolves once it is ready as the owner, or answers as one that waits. */
  start(role: 'owner' | 'standby'): Promise<void>
  /** As a power cut would. */
  kill(): Promise<void>
}

export interface CellUser {
  readonly cell: number
  readonly email: string
  /** At whichever node. */
  readonly console: (url: string) => HttpClient
}

/** Two cells: the first has one node, the second an owner and a standby. One identity provider serves all. */
export interface CellNodes {
  readonly server: PostgresServer
  readonly stack: SinkStack
  /** Of the first cell's node. */
  readonly firstUrl: string
  readonly leader: CellNode
  readonly standby: CellNode
  /** One of each cell. */
  readonly users: readonly CellUser[]
  stop(): Promise<void>
}

const PASSWORD = 'correct horse battery staple'
const POLL_MS = 50
const LISTENS_MS_MAX = 60_000

/** @throws Error when a process does not become ready; nothing is left running */
export async function startCellNodes(): Promise<CellNodes> {
  const ends: (() => unknown)[] = []
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    return await raise(ends, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function raise(ends: (() => unknown)[], stop: () => Promise<void>): Promise<CellNodes> {
  const server = await createPostgres()
  ends.push(() => server.remove())
  const directory = mkdtempSync(join(tmpdir(), 'cs-cells-'))
  ends.push(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }))
  const fileOf = (cell: number): string => {
    const path = join(directory, `journal-${cell}.json`)
    writeFileSync(path, JSON.stringify({ postgres: [server.url], cells: CELLS, cell }), {
      mode: 0o600,
    })
    return path
  }
  const links = await linksOf(directory, 3)
  const envOf = (cell: number, link: number) => ({
    COUNTERSIGN_JOURNAL_FILE: fileOf(cell),
    COUNTERSIGN_WORKERS: '1',
    ...links[link],
  })
  const stack = await startSinkStack({ wallets: 0, env: envOf(0, 0) })
  ends.push(() => stack.stop())
  const issuer = issuerOf(stack.home)

  async function node(name: string, link: number, from: string): Promise<CellNode> {
    const home = join(directory, name)
    const env = { ...envOf(1, link), IDENTITY_ISSUER: issuer }
    const [first, own] = [stack.home, home].map((at) => devHome({ COUNTERSIGN_HOME: at }))
    if (first === undefined || own === undefined) throw new Error('no home')
    await prepareNode(first, own, devHome({ COUNTERSIGN_HOME: from }), from === stack.home)
    giveRegistry(first, own)
    const quorum = await startChild('dist/src/quorum-signer/main.js', { COUNTERSIGN_HOME: home })
    ends.push(() => quorum.stop())
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    let ended = new AbortController()
    let service: Promise<Child> | null = null
    const kill = async () => {
      ended.abort()
      const child = await service?.catch(() => null)
      await child?.kill()
      service = null
    }
    ends.push(kill)
    return {
      ...{ home, url, env, kill, quorumPid: quorum.pid },
      async start(role) {
        ended = new AbortController()
        const told = { PORT: String(port), COUNTERSIGN_JOURNAL_ROLE: role, ...LIMITS }
        service = startChild(
          'dist/src/main.js',
          { COUNTERSIGN_HOME: home, ...env, ...told },
          ended.signal,
        )
        // Of a standby that is ended before it takes over.
        service.catch(() => undefined)
        if (role === 'owner') await service
        else await untilItAnswers(url)
      },
    }
  }

  const leader = await node('owner', 1, stack.home)
  await leader.start('owner')
  const standby = await node('standby', 2, leader.home)
  await standby.start('standby')
  const emails = await accountsOfCells(stack.home, CELLS, 'user', PASSWORD)
  const users = await Promise.all(
    emails.map(async (email, cell): Promise<CellUser> => {
      const token = await mintConsoleToken({ issuer, email, password: PASSWORD })
      const headers = { authorization: `Bearer ${token}` }
      return { cell, email, console: (url) => httpClient(`${url}/api/v1/agent`, headers) }
    }),
  )
  return { server, stack, firstUrl: stack.baseUrl, leader, standby, users, stop }
}

const LIMITS = { COUNTERSIGN_RATE_PER_SECOND: '1000000' }

async function untilItAnswers(url: string): Promise<void> {
  const deadlineMs = performance.now() + LISTENS_MS_MAX
  while (!(await fetch(`${url}/healthz`).catch(() => null))?.ok) {
    if (performance.now() > deadlineMs) throw new Error(`${url} does not answer`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
