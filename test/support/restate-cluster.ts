import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { freePort } from './ports.js'
import { SUPERVISORS } from './reap-services.js'

const READY_TRIES_MAX = 300
const READY_STEP_MS = 200

const SAID_CHARS_MAX = 64_000

/** Partitions of Restate's, which it deals its objects out to. */
const PARTITIONS = 3

export interface RestateNode {
  readonly ingress: string
  readonly pid: number
  /** What it said last. */
  said(): string
  /** As a power cut would. */
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  /** On the data that is there. */
  start(): Promise<void>
}

export interface RestateCluster {
  readonly nodes: readonly RestateNode[]
  readonly ingresses: readonly string[]
  /** Registers what answers for objects. */
  register(endpointUrl: string): Promise<void>
  /** Ends all nodes and removes their data. */
  remove(): Promise<void>
}

interface Ports {
  readonly ingress: number
  readonly admin: number
  readonly node: number
}

/** Nodes of a cluster of their own, that end with this process at the latest. */
export async function createRestateCluster(
  size: 1 | 3,
  invoker: readonly string[] = [],
): Promise<RestateCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-restate-'))
  const name = `tests-${randomBytes(4).toString('hex')}`
  const ports: Ports[] = []
  for (let node = 0; node < size; node++) {
    ports.push({ ingress: await freePort(), admin: await freePort(), node: await freePort() })
  }
  const nodes = ports.map((own, index) => nodeOf(directory, name, index, own, ports, invoker))
  const cluster: RestateCluster = {
    nodes,
    ingresses: nodes.map(({ ingress }) => ingress),
    async register(uri) {
      const admin = `http://127.0.0.1:${ports[0]?.admin}`
      const answer = await fetch(`${admin}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri }),
      })
      if (!answer.ok) throw new Error(`not registered: ${await answer.text()}`)
      await answer.text()
    },
    async remove() {
      await Promise.all(nodes.map((node) => node.kill()))
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
    },
  }
  try {
    await Promise.all(nodes.map((node) => node.spawn()))
    if (size > 1) await provision(ports[0] as Ports)
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
  own: Ports,
  all: readonly Ports[],
  invoker: readonly string[],
): OwnNode {
  const file = join(directory, `node-${index}.toml`)
  writeFileSync(file, settingsOf(cluster, index, own, all, invoker))
  const data = join(directory, `node-${index}`)
  const ingress = `http://127.0.0.1:${own.ingress}`
  let child: ChildProcess | null = null
  let tail = ''
  const end = () => void child?.kill('SIGKILL')

  async function spawnOne(): Promise<void> {
    const program = process.env.RESTATE_SERVER
    if (program === undefined) throw new Error('run by npm run test:journal:restate')
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

/** README.md of the journal has the same, with addresses. */
function settingsOf(
  cluster: string,
  index: number,
  own: Ports,
  all: readonly Ports[],
  invoker: readonly string[],
): string {
  const isOne = all.length === 1
  const addresses = all.map(({ node }) => `"http://127.0.0.1:${node}"`).join(', ')
  return `
cluster-name = "${cluster}"
node-name = "node-${index}"
auto-provision = ${isOne}
listen-mode = "tcp"
bind-address = "127.0.0.1:${own.node}"
advertised-address = "http://127.0.0.1:${own.node}"
default-num-partitions = ${PARTITIONS}
default-replication = ${isOne ? 1 : 2}
disable-telemetry = true
rocksdb-total-memory-size = "256 MiB"
log-filter = "warn,restate=info"
log-disable-ansi-codes = true

[metadata-client]
type = "replicated"
addresses = [${addresses}]
connect-timeout = "1s"
keep-alive-interval = "1s"
keep-alive-timeout = "1s"

[networking]
connect-timeout = "1s"
http2-keep-alive-timeout = "1s"

[ingress]
bind-address = "127.0.0.1:${own.ingress}"

[admin]
bind-address = "127.0.0.1:${own.admin}"

[worker.invoker]
${invoker.join('\n')}
`
}

/** Once, of a cluster that has never run. The node may not listen yet: that is said, and no failure. */
async function provision({ node }: Ports): Promise<void> {
  const program = process.env.RESTATECTL ?? ''
  const asked = [
    ...['--address', `http://127.0.0.1:${node}/`, 'provision', '--yes'],
    ...['--replication', '2', '--num-partitions', String(PARTITIONS)],
  ]
  let said = ''
  for (let tries = 0; tries < READY_TRIES_MAX; tries++) {
    const { stdout, stderr } = spawnSync(program, asked, { encoding: 'utf8' })
    said = stdout + stderr
    if (said.includes('has been successfully provisioned')) return
    await sleep(READY_STEP_MS)
  }
  throw new Error(`the cluster was not made: ${said}`)
}
