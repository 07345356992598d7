import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { giveRegistry, prepareNode } from '../scripts/dev/cluster/node-home.js'
import { makeNodeLinks } from '../scripts/dev/cluster/node-links.js'
import { devHome } from '../scripts/dev/home/layout.js'
import type { Journal } from '../src/journal/journal.js'
import { openPostgresJournal } from '../src/journal/postgres-journal.js'
import { startChild, startWaiting } from './child-process.js'
import { freePort } from './free-port.js'
import { type JournalServers, startJournalServers } from './postgres.js'
import { say } from './say.js'
import { issuerOf, type SinkStack, startSinkStack } from './sink-stack.js'
import { makeDirectory } from './temporary.js'

/** Nodes on this machine, over one pair of Postgres servers; the first is a sink stack. */
export interface ClusterGround {
  readonly servers: JournalServers
  readonly journal: Journal
  /** Environment of a service, by its number from 0. @param cell absent if there is only one */
  environmentOf(node: number, cell?: { readonly all: readonly string[]; readonly own: number }): Env
  startFirst(options: { readonly wallets: number; readonly env: Env }): Promise<SinkStack>
  /** Starts another node, which serves a cell or follows the first node. */
  startNode(options: NodeOptions): Promise<ClusterNode>
  /** Stops everything that was started here. */
  stop(): Promise<void>
}

type Env = Readonly<Record<string, string>>

export interface NodeOptions {
  readonly stack: SinkStack
  readonly env: Env
  /** `owner` leads its own cell; `standby` follows the first node. */
  readonly role: 'owner' | 'standby'
}

export interface ClusterNode {
  readonly home: string
  readonly port: number
  readonly pids: Readonly<Record<'service' | 'quorum', number>>
}

/** No snapshots during the turns; other benches measure those. */
export const TAIL_MIB = '1048576'
const POLL_MS = 50
const FOLLOWS_MS_MAX = 120_000
const LIMITS = { COUNTERSIGN_RATE_PER_SECOND: '1000000' }

/** @throws Error if certificates cannot be created here; nothing is left running */
export async function layGround(nodes: number): Promise<ClusterGround> {
  const undone: (() => Promise<unknown> | unknown)[] = []
  const stop = async () => {
    for (const undo of undone.splice(0).toReversed()) await undo()
  }
  try {
    const servers = await startJournalServers(2)
    undone.push(() => servers.stop())
    const directory = makeDirectory()
    undone.push(() => directory.remove())
    const ports = await Promise.all(Array.from({ length: nodes }, () => freePort()))
    const links = makeNodeLinks(devHome({ COUNTERSIGN_HOME: directory.path }), ports)
    if (links === null) throw new Error('the links of nodes need openssl for their certificates')
    const journal = await openPostgresJournal([servers.url], {
      warn: (_context, message) => say(message),
    })
    undone.push(() => journal.close())
    let made = 0
    return {
      ...{ servers, journal, stop },
      environmentOf(node, cell) {
        const file = join(directory.path, `journal-${node}.json`)
        const cells = cell === undefined ? {} : { cells: cell.all, cell: cell.own }
        writeFileSync(file, JSON.stringify({ postgres: [servers.url], ...cells }), { mode: 0o600 })
        return {
          COUNTERSIGN_JOURNAL_FILE: file,
          COUNTERSIGN_JOURNAL_TAIL_MIB: TAIL_MIB,
          COUNTERSIGN_NODE_LINK_FILE: links[node] ?? '',
        }
      },
      async startFirst(options) {
        const stack = await startSinkStack(options)
        undone.push(() => stack.stop())
        return stack
      },
      startNode: (options) => startNode(join(directory.path, `home-${++made}`), options, undone),
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startNode(
  home: string,
  { stack, env, role }: NodeOptions,
  undone: (() => Promise<unknown> | unknown)[],
): Promise<ClusterNode> {
  const first = devHome({ COUNTERSIGN_HOME: stack.home })
  const own = devHome({ COUNTERSIGN_HOME: home })
  await prepareNode(first, own, first, role === 'owner')
  giveRegistry(first, own)
  const quorum = await startChild('dist/src/quorum-signer/main.js', { COUNTERSIGN_HOME: home })
  undone.push(() => quorum.stop())
  const port = await freePort()
  const told = {
    ...{ COUNTERSIGN_HOME: home, PORT: String(port), IDENTITY_ISSUER: issuerOf(stack.home) },
    ...{ ...LIMITS, ...env, COUNTERSIGN_JOURNAL_ROLE: role },
  }
  const service =
    role === 'owner'
      ? await startChild('dist/src/main.js', told)
      : startWaiting('dist/src/main.js', told)
  // Its output is not needed.
  undone.push(() => service.kill())
  if (role === 'standby') await untilItFollows(port, service.said)
  return { home, port, pids: { service: service.pid, quorum: quorum.pid } }
}

async function untilItFollows(port: number, said: () => string): Promise<void> {
  const deadline = performance.now() + FOLLOWS_MS_MAX
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null)
    const { parts } = (await answer?.json().catch(() => null)) ?? { parts: {} }
    const { standby, loaded, behind } = Object(parts.node) as Record<string, unknown>
    if (answer?.status === 200 && standby === true && loaded === true && behind === 0) return
    if (performance.now() > deadline) throw new Error(`a standby does not follow: ${said()}`)
    await delay(POLL_MS)
  }
}
