import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import type { ClusterFile } from '../../scripts/dev/cluster/start-cluster.js'
import type { DevPids } from '../../scripts/dev/dev-file.js'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { isAlive } from '../devnet/support/observer.js'
import { takeBuiltChains } from './built-chains.js'
import { type HttpClient, httpClient } from './http-client.js'
import type { ReadyDevFile } from './ready-dev-file.js'
import { SUPERVISORS } from './reap-services.js'
import { reserveStackPorts } from './stack-ports.js'

/** A process of the service that a test can kill or freeze, by its name in `dev.json`. */
export type ServicePart = Exclude<keyof DevPids, 'chains'>

/** One of the running wallet services; the only one where there is no cluster. */
interface ServiceNode {
  readonly home: string
  /** Null while it is down. */
  readonly pid: number | null
  /** True for the node that owns the journal. */
  readonly isLeader: boolean
  /** True for the node that clients call. */
  readonly isAsked: boolean
}

/** The whole stack as `npm start` runs it, in its own home and on its own port. */
export interface Service {
  readonly home: string
  /** The current `dev.json`: pids change when a process was started again. */
  dev(): ReadyDevFile
  nodes(): readonly ServiceNode[]
  /** A client with an API key: the development trade key by default, no key when it is null. */
  api(secret?: string | null): HttpClient
  /** The console's REST interface; paths are relative to `/api/v1/agent`. */
  console(token: string): HttpClient
  /** A token of the development user, or of another user. */
  token(user?: {
    readonly email: string
    readonly password: string
    /** The user's own by default. */
    readonly account?: string
  }): Promise<string>
  signal(part: ServicePart, signal: NodeJS.Signals): void
  /** Stops the supervisor, so that ended processes stay ended, or lets it continue. */
  restarts(allowed: boolean): void
  /** Sends SIGKILL; resolves when the supervisor has the process serving again, under a new pid. */
  killAndAwaitRestart(part: ServicePart): Promise<void>
  awaitRestart(part: ServicePart, formerPid: number): Promise<void>
  /**
   * Sends SIGKILL to the service on every node; resolves when one of them serves again.
   * @param whileDown runs in between and has their stores and settings to itself
   */
  restartNodes(whileDown: () => void): Promise<void>
  /** Ends every process and removes the home. */
  stop(): Promise<void>
}

/**
 * With more than one node (`npm run test:long -- nodes`) there is a cluster, and every client calls a node
 * that does not own the journal. That node passes requests on to the owner; after a failover,
 * another node does.
 */
export const NODES = Number(process.env.NODES ?? '1')
const [ENTRY, ARGUMENTS] =
  NODES === 1
    ? (['start', []] as const)
    : (['cluster', ['--nodes', String(NODES), '--ask', 'standby']] as const)
const START = fileURLToPath(new URL(`../../dist/scripts/dev/${ENTRY}.js`, import.meta.url))

/**
 * Allows for six chains, their contracts and three processes; slow when other work shares the
 * cores.
 */
const READY_TIMEOUT_MS = 200_000
const RESTART_TIMEOUT_MS = 90_000
const POLL_MS = 50
/** Lets Postgres, which does not run as root, pass through the directory. */
const PASSAGE_MODE = 0o711

/**
 * Starts the stack. Call it once per file, in `beforeAll`, and `stop` in `afterAll`.
 * @param env further environment of all its processes
 * @param parent the directory in which its home is made
 * @param openFilesMax how many files each of its processes may have open; by default as many as
 * this one
 * @throws Error with the supervisor's output when the stack is not ready in time
 */
export async function startService(
  env: Readonly<Record<string, string>> = {},
  parent = tmpdir(),
  openFilesMax: number | null = null,
): Promise<Service> {
  const home = mkdtempSync(join(parent, 'cs-e2e-'))
  const elsewhere = parent === tmpdir() || NODES === 1 ? null : otherMachines(home)
  const chains = await takeBuiltChains(inject('runDirectory'), home)
  const supervisor = await launch(home, await reserveStackPorts(home), env, openFilesMax)
  const devPath = join(home, 'dev.json')
  const dev = (): ReadyDevFile & Partial<Pick<ClusterFile, 'nodes' | 'identity_standby'>> =>
    JSON.parse(readFileSync(devPath, 'utf8'))
  const pidOf = (part: ServicePart) => dev().pids[part]
  const stop = async () => {
    await supervisor.end()
    for (const directory of [home, elsewhere]) {
      if (directory !== null) rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
    }
  }
  try {
    const deadlineMs = Date.now() + READY_TIMEOUT_MS
    while (!existsSync(devPath)) {
      if (supervisor.child.exitCode !== null || Date.now() > deadlineMs) {
        throw new Error(`the service did not start: ${supervisor.output()}`)
      }
      chains?.offer()
      await delay(POLL_MS)
    }
  } catch (error) {
    await stop()
    throw error
  } finally {
    chains?.end()
  }

  async function awaitRestart(part: ServicePart, formerPid: number): Promise<void> {
    const deadlineMs = Date.now() + RESTART_TIMEOUT_MS
    for (;;) {
      const pid = pidOf(part)
      const isBack = pid !== null && pid !== formerPid
      if (isBack && (part !== 'service' || (await isServed(dev().base_url)))) return
      if (Date.now() > deadlineMs) throw new Error(`${part} is not back: ${supervisor.output()}`)
      await delay(POLL_MS)
    }
  }
  function signal(part: ServicePart, signalName: NodeJS.Signals): void {
    const pid = pidOf(part)
    if (pid === null) throw new Error(`${part} does not run`)
    process.kill(pid, signalName)
    // Either of the two may serve: while one is frozen, the other takes its place.
    const standby = part === 'identity_provider' ? dev().identity_standby?.pid : null
    const isHalt = signalName === 'SIGSTOP' || signalName === 'SIGCONT'
    if (isHalt && standby != null) process.kill(standby, signalName)
  }

  function nodes(): readonly ServiceNode[] {
    const { nodes: all, pids, base_url: asked } = dev()
    if (all === undefined) return [{ home, pid: pids.service, isLeader: true, isAsked: true }]
    return all.map((node) => ({
      ...{ home: node.home, pid: node.service },
      ...{ isLeader: node.owns_journal, isAsked: node.base_url === asked },
    }))
  }

  return {
    home,
    dev,
    nodes,
    api(secret = dev().keys.trade.secret) {
      return httpClient(() => dev().base_url, secret === null ? {} : { 'x-api-key': secret })
    },
    console(token) {
      const baseUrl = () => `${dev().base_url}/api/v1/agent`
      return httpClient(baseUrl, { authorization: `Bearer ${token}` })
    },
    token(user: Parameters<Service['token']>[0] = dev().user) {
      const ports = JSON.parse(readFileSync(join(home, 'ports.json'), 'utf8'))
      return mintConsoleToken({
        issuer: `http://127.0.0.1:${ports.identity_provider}`,
        ...user,
      })
    },
    signal,
    restarts(allowed) {
      supervisor.child.kill(allowed ? 'SIGCONT' : 'SIGSTOP')
    },
    awaitRestart,
    async restartNodes(whileDown) {
      const former = pidOf('service')
      const pids = nodes().flatMap(({ pid }) => (pid === null ? [] : [pid]))
      supervisor.child.kill('SIGSTOP')
      try {
        for (const pid of pids) process.kill(pid, 'SIGKILL')
        while (pids.some(isAlive)) await delay(POLL_MS)
        whileDown()
      } finally {
        supervisor.child.kill('SIGCONT')
      }
      await awaitRestart('service', former ?? 0)
    },
    async killAndAwaitRestart(part) {
      const pid = pidOf(part)
      if (pid === null) throw new Error(`${part} does not run`)
      process.kill(pid, 'SIGKILL')
      await awaitRestart(part, pid)
    },
    stop,
  }
}

/**
 * Holds what would not be on the machine of a cluster's first node: the journal and the other
 * nodes.
 */
function otherMachines(home: string): string {
  const elsewhere = mkdtempSync(join(tmpdir(), 'cs-e2e-others-'))
  chmodSync(elsewhere, PASSAGE_MODE)
  for (const name of ['postgres', 'nodes']) {
    mkdirSync(join(elsewhere, name))
    symlinkSync(join(elsewhere, name), join(home, name))
  }
  return elsewhere
}

/**
 * With several nodes, the node that is called lets the owner answer; it may be the owner itself by
 * now, and then another one is called soon.
 */
async function isServed(url: string): Promise<boolean> {
  if (NODES === 1) return true
  const answer = await fetch(`${url}/readyz`).catch(() => null)
  if (answer?.status !== 200) return false
  return ((await answer.json()) as { parts: { node?: object } }).parts.node !== undefined
}

interface Supervisor {
  readonly child: ChildProcess
  output(): string
  end(): Promise<void>
}

async function launch(
  home: string,
  port: number,
  env: Readonly<Record<string, string>>,
  openFilesMax: number | null,
): Promise<Supervisor> {
  const limit = openFilesMax === null ? '' : `ulimit -n ${openFilesMax}; `
  const node = [process.execPath, '--enable-source-maps', START, ...ARGUMENTS]
  const child = spawn('/bin/sh', ['-c', `${limit}exec "$0" "$@"`, ...node], {
    env: { ...env, PATH: process.env.PATH, COUNTERSIGN_HOME: home, PORT: String(port) },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_CHARS_MAX)
    })
  }
  const pidFile = join(inject('runDirectory'), SUPERVISORS, String(child.pid))
  writeFileSync(pidFile, '')
  const killWithParent = () => child.kill('SIGKILL')
  process.once('exit', killWithParent)
  return {
    child,
    output: () => output,
    async end() {
      // A stopped process receives SIGTERM only when it continues.
      child.kill('SIGTERM')
      child.kill('SIGCONT')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
      await ended
      clearTimeout(timer)
      process.removeListener('exit', killWithParent)
      rmSync(pidFile, { force: true })
    },
  }
}

const OUTPUT_CHARS_MAX = 20_000
const STOP_TIMEOUT_MS = 40_000
