import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A machine as the written units, sysusers and tmpfiles describe it, without systemd: users are
 * numbers that nobody else has, where these tests run as root and others may read the program.
 */
export interface Machine {
  /** True when the three domains run as three users. */
  readonly hasUsers: boolean
  /** A command as one of the users, or as whoever runs the tests. */
  run(user: string | null, command: readonly string[], options?: RunOptions): Promise<Ran>
  /** Starts a unit; it ends with `stop`. */
  start(unit: string): void
  /** What a unit has written so far. */
  output(unit: string): string
  /** SIGKILL of all units at once. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Told each piece of stderr, such as an address to open. */
  readonly onError?: (text: string) => void
}

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Above what Debian gives out, below `nobody`. */
const FIRST_ID = 64_100
const STOP_TIMEOUT_MS = 30_000
const COMMAND_TIMEOUT_MS = 120_000

interface Identity {
  readonly uid: number
  readonly groups: readonly number[]
}

/** @param installation what `live init` wrote */
export function openMachine(installation: string, cli: string): Machine {
  const units = join(installation, 'systemd')
  const lines = (file: string) =>
    readFileSync(join(units, file), 'utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
  const hasUsers = canUseUsers()
  const ids = new Map<string, number>([['root', process.getuid?.() ?? 0]])
  const members = new Map<string, string[]>()
  for (const line of lines('countersign.sysusers.conf')) {
    const [kind, name = '', group = ''] = line.split(/\s+/)
    if (kind === 'm') members.set(name, [...(members.get(name) ?? []), group])
    else if (!ids.has(name)) ids.set(name, FIRST_ID + ids.size)
  }
  const idOf = (name: string) => {
    const id = ids.get(name)
    if (id === undefined) throw new Error(`sysusers make no ${name}`)
    return id
  }
  const identityOf = (user: string, supplementary: readonly string[]): Identity => ({
    uid: idOf(user),
    groups: [user, ...(members.get(user) ?? []), ...supplementary].map(idOf),
  })
  for (const line of lines('countersign.tmpfiles.conf')) {
    const [, path = '', mode = '', user = '', group = ''] = line.split(/\s+/)
    mkdirSync(path, { recursive: true })
    chmodSync(path, Number.parseInt(mode, 8))
    if (hasUsers) chownSync(path, idOf(user), idOf(group))
    chmodSync(path, Number.parseInt(mode, 8))
  }
  const children = new Map<string, ChildProcess>()
  const outputs = new Map<string, string>()

  function as(identity: Identity | null, command: readonly string[]): readonly string[] {
    if (identity === null || !hasUsers) return command
    const { uid, groups } = identity
    const flags = [`--reuid=${uid}`, `--regid=${groups[0]}`, `--groups=${groups.join(',')}`]
    return ['setpriv', ...flags, ...command]
  }

  return {
    hasUsers,
    run(user, command, { env = {}, onError } = {}) {
      const identity = user === null ? null : identityOf(user, [])
      const [program = '', ...args] = as(identity, [process.execPath, cli, ...command])
      return new Promise((resolve, reject) => {
        const child = spawn(program, args, {
          env: { PATH: process.env.PATH ?? '', HOME: installation, ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
          timeout: COMMAND_TIMEOUT_MS,
        })
        let stdout = ''
        let stderr = ''
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          stdout += text
        })
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          stderr += text
          onError?.(text)
        })
        child.once('error', reject)
        child.once('close', (code) => resolve({ code, stdout, stderr }))
      })
    },
    start(unit) {
      const settings = new Map(
        lines(`${unit}.service`).flatMap((line) => {
          const at = line.indexOf('=')
          return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const]
        }),
      )
      const groups = (settings.get('SupplementaryGroups') ?? '').split(' ')
      const identity = identityOf(settings.get('User') ?? '', groups)
      const file = (settings.get('EnvironmentFile') ?? '').split('/').at(-1) ?? ''
      const [program = '', ...args] = as(identity, (settings.get('ExecStart') ?? '').split(' '))
      const child = spawn(program, args, {
        env: { PATH: process.env.PATH ?? '', ...environmentAt(installation, file, ids) },
        stdio: ['ignore', 'pipe', 'pipe'],
        // A group of its own: a machine that is lost takes a unit's children with it.
        detached: true,
      })
      const killWithParent = () => killGroup(child)
      process.once('exit', killWithParent)
      child.once('exit', () => process.removeListener('exit', killWithParent))
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          outputs.set(unit, `${outputs.get(unit) ?? ''}${text}`)
        })
      }
      children.set(unit, child)
    },
    output: (unit) => outputs.get(unit) ?? '',
    async kill() {
      const ending = [...children.values()].map(gone)
      for (const child of children.values()) killGroup(child)
      await Promise.all(ending)
      children.clear()
    },
    async stop() {
      await Promise.all([...children.values()].map(ended))
      children.clear()
    },
  }
}

/** As systemd reads it, with the groups' numbers for names that this machine has not made. */
function environmentAt(
  installation: string,
  file: string,
  ids: ReadonlyMap<string, number>,
): Record<string, string> {
  const path = join(installation, 'environment', file)
  return Object.fromEntries(
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, name = '', value = ''] = /^([A-Z_]+)=(.+)$/.exec(line) ?? []
        if (name === '') return []
        if (name !== 'COUNTERSIGN_SOCKET_GROUP') return [[name, value]]
        return canUseUsers() ? [[name, String(ids.get(value))]] : []
      }),
  )
}

function canUseUsers(): boolean {
  if (process.getuid?.() !== 0) return false
  const id = String(FIRST_ID)
  const look = `accessSync(${JSON.stringify(process.cwd())}+'/dist/src/main.js')`
  const { status } = spawnSync('setpriv', [
    ...[`--reuid=${id}`, `--regid=${id}`, '--clear-groups', process.execPath, '-e'],
    `require('node:fs').${look}`,
  ])
  return status === 0
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL')
}

async function ended(child: ChildProcess): Promise<void> {
  const ending = gone(child)
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await ending
  clearTimeout(timer)
}

async function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  await new Promise((resolve) => child.once('exit', resolve))
}
