import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { DevFile } from '../../../scripts/dev/dev-file.js'
import type { ReadyDevFile } from '../../support/ready-dev-file.js'
import { reserveStackPorts } from '../../support/stack-ports.js'
import { isAlive } from './observer.js'

/** A running `npm start` or `npm run cluster`, without npm: the compiled script in a process group of its own. */
export interface Started {
  readonly home: string
  readonly port: number
  readonly supervisor: ChildProcess
  output(): string
  dev(): ReadyDevFile
  /** Signals the whole group and waits for the end. @returns the exit code */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

const SCRIPTS = fileURLToPath(new URL('../../../dist/scripts/dev', import.meta.url))
/** A script of that folder, and what it is told. */
export type DevCommand = readonly [script: 'start' | 'cluster', ...args: string[]]
/** Six chains, their contracts, three processes; slow when other work shares the cores. */
const READY_TIMEOUT_MS = 200_000

export function spawnStart(home: string, port: number, command: DevCommand = ['start']) {
  const [name, ...args] = command
  const script = join(SCRIPTS, `${name}.js`)
  const { PATH, XDG_CACHE_HOME } = process.env
  const supervisor = spawn(process.execPath, ['--enable-source-maps', script, ...args], {
    env: { PATH, XDG_CACHE_HOME, COUNTERSIGN_HOME: home, PORT: String(port) },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [supervisor.stdout, supervisor.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const ended = new Promise<number | null>((resolve) => supervisor.once('close', resolve))
  return { supervisor, ended, output: () => output }
}

/**
 * @param at port of the service; a home’s first start is given ports of this test process when omitted
 * @throws Error with the output when it ends before it is ready
 */
export async function startDev(
  home: string,
  at?: number,
  command: DevCommand = ['start'],
): Promise<Started> {
  const port = at ?? (await reserveStackPorts(home))
  const devPath = join(home, 'dev.json')
  rmSync(devPath, { force: true })
  const { supervisor, ended, output } = spawnStart(home, port, command)
  const signalGroup = (signal: NodeJS.Signals) => {
    if (supervisor.pid !== undefined && isAlive(supervisor.pid)) {
      process.kill(-supervisor.pid, signal)
    }
  }
  const deadlineMs = Date.now() + READY_TIMEOUT_MS
  while (!existsSync(devPath)) {
    const over = supervisor.exitCode !== null || Date.now() > deadlineMs
    if (over) signalGroup('SIGKILL')
    if (over) throw new Error(`not ready: ${output()}`)
    await delay(100)
  }
  return {
    home,
    port,
    supervisor,
    output,
    dev: () => JSON.parse(readFileSync(devPath, 'utf8')),
    stop(signal = 'SIGTERM') {
      signalGroup(signal)
      return ended
    },
  }
}

export function pidsOf({ pids }: DevFile): number[] {
  const { service, identity_provider, quorum_signer, chains } = pids
  return [service, identity_provider, quorum_signer, ...Object.values(chains)].map(Number)
}
