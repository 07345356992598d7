import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { provision, register } from '../../scripts/dev/restate/provision.js'
import { type RestatePorts, restateSettings } from '../../scripts/dev/restate/settings.js'
import { freePort } from './ports.js'
import { SUPERVISORS } from './reap-services.js'

const READY_TRIES_MAX = 300
const READY_STEP_MS = 200

const SAID_CHARS_MAX = 64_000

export interface RestateNode {
  readonly ingress: string
  readonly pid: number
  /** The end of its output. */
  said(): string
  /** Acts like a power cut. */
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** Starts the node on the data that is there. */
  start(): Promise<void>
}

export interface RestateCluster {
  readonly nodes: readonly RestateNode[]
  readonly ingresses: readonly string[]
  /** Registers the handler that answers for objects. */
  register(endpointUrl: string): Promise<void>
  /** Ends all nodes and removes their data. */
  remove(): Promise<void>
}

/**
 * Nodes of a separate cluster, which end with this process at the latest.
 * @param invokerOf lines of a node's `[worker.invoker]`
 */
export async function createRestateCluster(
  size: 1 | 3,
  invokerOf: (node: number) => readonly string[] = () => [],
): Promise<RestateCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-restate-'))
  const name = `tests-${randomBytes(4).toString('hex')}`
  const ports: RestatePorts[] = []
  for (let node = 0; node < size; node++) {
    ports.push({ ingress: await freePort(), admin: await freePort(), node: await freePort() })
  }
  const nodes = ports.map((own, index) =>
    nodeOf(directory, name, index, own, ports, invokerOf(index)),
  )
  const cluster: RestateCluster = {
    nodes,
    ingresses: nodes.map(({ ingress }) => ingress),
    register: (uri) => register(ports[0] as RestatePorts, uri),
    async remove() {
      await Promise.all(nodes.map((node) => node.kill()))
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
    },
  }
  try {
    await Promise.all(nodes.map((node) => node.spawn()))
    if (size > 1) await provision(control(), ports[0] as RestatePorts)
    await Promise.all(nodes.map((node) => node.ready()))
  } catch (error) {
    await cluster.remove()
    throw error
  }
  return cluster
}

interface OwnNode extends RestateNode {
  spawn(): Promise<void>
  ready(): Promise<void>
}

function nodeOf(
  directory: string,
  cluster: string,
  index: number,
  own: RestatePorts,
  all: readonly RestatePorts[],
  invoker: readonly string[],
): OwnNode {
  const file = join(directory, `node-${index}.toml`)
  writeFileSync(file, restateSettings({ cluster, index, own, all, invoker }))
  const data = join(directory, `node-${index}`)
  const ingress = `http://127.0.0.1:${own.ingress}`
  let child: ChildProcess | null = null
  let tail = ''
  const end = () => void child?.kill('SIGKILL')

  async function spawnOne(): Promise<void> {
    const program = process.env.RESTATE_SERVER
    if (program === undefined) throw new Error('run by npm run test:long -- journal-restate')
    const started = spawn(program, ['--config-file', file, '--base-dir', data, '--no-logo'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '' },
    })
    child = started
    process.once('exit', end)
    // What kills this process on its way keeps it from that: the run then ends those that it finds.
    const pidFile = join(inject('runDirectory'), SUPERVISORS, String(started.pid))
    writeFileSync(pidFile, '')
    started.once('exit', () => rmSync(pidFile, { force: true }))
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        tail = (tail + text).slice(-SAID_CHARS_MAX)
      })
    }
    await once(started, 'spawn')
  }

  async function ready(): Promise<void> {
    for (let tries = 0; tries < READY_TRIES_MAX; tries++) {
      if (child === null || child.exitCode !== null) throw new Error(`Restate ended: ${tail}`)
      const answer = await fetch(`${ingress}/restate/health`).catch(() => null)
      await answer?.text()
      if (answer?.ok === true) return
      await sleep(READY_STEP_MS)
    }
    throw new Error(`Restate does not answer: ${tail}`)
  }

  return {
    ingress,
    get pid() {
      return child?.pid ?? 0
    },
    said: () => tail,
    spawn: spawnOne,
    ready,
    async kill() {
      process.off('exit', end)
      const killed = child
      child = null
      if (killed === null || killed.exitCode !== null || killed.signalCode !== null) return
      const exited = once(killed, 'exit')
      killed.kill('SIGKILL')
      await exited
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async start() {
      await spawnOne()
      await ready()
    },
  }
}

function control(): string {
  return process.env.RESTATECTL ?? ''
}
