import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { z } from 'zod'
import { packageRoot } from '../../../src/cli/connection.js'
import type { BegunInstance } from '../begin-instance.js'
import { claimPort, isPortFree } from '../free-port.js'
import { readJsonFile, writeJsonAtomically } from '../home/json-file.js'
import { PRIVATE_DIR_MODE, PRIVATE_FILE_MODE } from '../home/layout.js'
import type { SupervisedProcess } from '../supervision/supervised-process.js'
import { superviseProcess } from '../supervision/supervised-process.js'
import { layHandlerFront } from './handler-front.js'
import { provision, register } from './provision.js'
import { type RestatePorts, restateSettings } from './settings.js'

/** Restate's programs, as the toolchain fetches them. */
export interface RestatePrograms {
  readonly server: string
  readonly control: string
}

const CLUSTER_NAME = 'countersign-dev'
const NODES = 3
/** The second continues when the first ends or hangs. */
const HANDLERS = 2
/** Above the ports of six chains. */
const FIRST_PORT = 18_560
const READY_TIMEOUT_MS = 120_000
/** Acknowledged entries are on disk, so a slow shutdown may be cut short. */
const STOP_TIMEOUT_MS = 5_000
const POLL_MS = 200
const PROBE_TIMEOUT_MS = 2_000

const port = z.int().min(1).max(65_535)
const portsFile = z.object({
  nodes: z.array(z.object({ ingress: port, admin: port, node: port })).length(NODES),
  /** The port of the front, which the nodes know. */
  handler: port,
  /** The ports behind it. */
  handlers: z.array(port).length(HANDLERS).optional(),
})
type RestateClusterPorts = z.infer<typeof portsFile>
type AllPorts = RestateClusterPorts & { readonly handlers: readonly number[] }
const PORTS_FILE = 'ports.json'
const programs = z.object({ RESTATE_SERVER: z.string(), RESTATECTL: z.string() })
const journalFileOf = z.object({ restate: z.object({ key: z.string() }) })

/**
 * Fetches Restate if it is missing.
 * @throws Error when it cannot be fetched
 */
export async function requireRestate(): Promise<RestatePrograms> {
  const toolchain = pathToFileURL(join(packageRoot(), 'scripts/toolchain/restate.mjs')).href
  const { ensureRestate } = (await import(toolchain)) as { ensureRestate: () => unknown }
  const { RESTATE_SERVER: server, RESTATECTL: control } = programs.parse(ensureRestate())
  return { server, control }
}

/**
 * Starts three nodes on existing data, and two handlers behind one address that serve the journal;
 * on the first run it forms the cluster.
 * @param journalFile written here, with a key that stays
 */
export async function startJournalNodes(
  begun: BegunInstance,
  { server, control }: RestatePrograms,
  journalFile: string,
): Promise<void> {
  const { home, shutdown, run } = begun
  const directory = join(home.root, 'restate')
  const data = join(directory, 'data')
  const madeFile = join(directory, 'made')
  const isMade = existsSync(madeFile)
  // The directory has no data before it is complete.
  if (!isMade) rmSync(data, { recursive: true, force: true })
  mkdirSync(data, { recursive: true, mode: PRIVATE_DIR_MODE })
  const ports = await portsIn(directory, begun.claimedPorts)
  const [first] = ports.nodes
  if (first === undefined) throw new Error('a cluster has a node')
  const key =
    readJsonFile(journalFile, journalFileOf)?.restate.key ?? randomBytes(32).toString('hex')
  const ingresses = ports.nodes.map(({ ingress }) => `http://127.0.0.1:${ingress}`)
  writeJsonAtomically(journalFile, { restate: { ingresses, key } }, PRIVATE_FILE_MODE)

  const nodes = ports.nodes.map((_, index) => nodeOf(begun, { server, directory, ports, index }))
  // Started at once, because each waits for the others.
  await shutdown.defer(() => Promise.all(nodes.map((node) => node.stop())).then(() => undefined))
  const failed = new AbortController()
  try {
    await Promise.all([
      ...nodes.map((node) => node.start()),
      ...(isMade ? [] : [provision(control, first, failed.signal)]),
    ])
  } finally {
    failed.abort()
  }
  for (const [index, at] of ports.handlers.entries()) {
    const file = join(directory, `handler-${index + 1}.json`)
    const restate = { ingresses, key, handler: { port: at } }
    writeJsonAtomically(file, { restate }, PRIVATE_FILE_MODE)
    await run(handlerOf(begun, { file, index, at }))
  }
  const front = await layHandlerFront(ports.handlers, ports.handler)
  await shutdown.defer(() => front.close())
  await register(first, `http://127.0.0.1:${ports.handler}`)
  if (!isMade) writeFileSync(madeFile, '', { mode: PRIVATE_FILE_MODE })
}

/**
 * The ports are kept, because the nodes know each other by them.
 * @throws Error when one is taken
 */
async function portsIn(directory: string, claimed: Set<number>): Promise<AllPorts> {
  const kept = readJsonFile(join(directory, PORTS_FILE), portsFile)
  const claim = () => claimPort(FIRST_PORT, claimed)
  if (kept !== null) {
    const { nodes, handler, handlers = [] } = kept
    const all = [...nodes.flatMap((node) => Object.values(node)), handler, ...handlers]
    for (const each of all) {
      claimed.add(each)
      if (await isPortFree(each)) continue
      throw new Error(
        `port ${each} is taken, by which the nodes of Restate know each other: stop what listens there`,
      )
    }
    const ports = { ...kept, handlers: await handlersOf(handlers, claim) }
    writeRestatePorts(directory, ports)
    return ports
  }
  const nodes: RestatePorts[] = []
  for (let index = 0; index < NODES; index++) {
    nodes.push({ ingress: await claim(), admin: await claim(), node: await claim() })
  }
  const ports = { nodes, handler: await claim(), handlers: await handlersOf([], claim) }
  writeRestatePorts(directory, ports)
  return ports
}

/** @param kept undefined when an earlier build had one handler */
async function handlersOf(
  kept: readonly number[],
  claim: () => Promise<number>,
): Promise<number[]> {
  const handlers = [...kept]
  while (handlers.length < HANDLERS) handlers.push(await claim())
  return handlers
}

/** Stores the ports for the next start. */
export function writeRestatePorts(directory: string, ports: RestateClusterPorts): void {
  writeJsonAtomically(join(directory, PORTS_FILE), ports)
}

interface NodePlace {
  readonly server: string
  readonly directory: string
  readonly ports: RestateClusterPorts
  readonly index: number
}

function nodeOf(
  { home, observer }: BegunInstance,
  { server, directory, ports, index }: NodePlace,
): SupervisedProcess {
  const own = ports.nodes[index] as RestatePorts
  const file = join(directory, `node-${index}.toml`)
  writeFileSync(file, restateSettings({ cluster: CLUSTER_NAME, index, own, all: ports.nodes }))
  const args = ['--config-file', file, '--base-dir', join(directory, 'data', `node-${index}`)]
  return superviseProcess(
    {
      name: `Restate ${index + 1}`,
      channel: 'none',
      readyTimeoutMs: READY_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS,
      logPath: join(home.logs, `restate-${index + 1}.log`),
      launch: async () => ({
        command: server,
        args: [...args, '--no-logo'],
        env: { PATH: process.env.PATH },
      }),
      awaitReady: (signal) =>
        until(signal, async () => {
          const url = `http://127.0.0.1:${own.ingress}/restate/health`
          return (await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })).ok
        }),
    },
    observer,
  )
}

interface HandlerPlace {
  /** The journal's file. */
  readonly file: string
  readonly index: number
  readonly at: number
}

function handlerOf(
  { home, observer }: BegunInstance,
  { file, index, at }: HandlerPlace,
): SupervisedProcess {
  const program = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
  return superviseProcess(
    {
      name: `journal handler ${index + 1}`,
      channel: 'none',
      readyTimeoutMs: READY_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS,
      logPath: join(home.logs, `journal-handler-${index + 1}.log`),
      launch: async () => ({
        command: process.execPath,
        args: ['--enable-source-maps', program, '--json', 'cluster', 'handler'],
        env: { ...process.env, COUNTERSIGN_JOURNAL_FILE: file },
      }),
      awaitReady: (signal) => until(signal, () => listens(at)),
    },
    observer,
  )
}

async function until(signal: AbortSignal, holds: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    if (await holds().catch(() => false)) return
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
}

function listens(at: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port: at })
    const done = (isOpen: boolean) => () => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', done(true))
    socket.once('error', done(false))
  })
}
