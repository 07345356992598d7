import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './ports.js'

/** Postgres refuses to run as root; Debian's package brings a user for it. */
const USER = 'postgres'
const INSTALLED = '/usr/lib/postgresql'

const READY_TRIES_MAX = 600
const READY_STEP_MS = 100

export type Settings = Readonly<Record<string, string | number>>

export interface PostgresServer {
  readonly url: string
  readonly pid: number
  /** Runs one statement. @returns what psql prints of it */
  sql(statement: string): string
  /** A standby that follows it. @param name as `synchronous_standby_names` has it */
  follow(name: string): Promise<PostgresServer>
  /** Makes a standby primary. */
  promote(): void
  /** As a power cut would: nothing is ended. */
  kill(): Promise<void>
  /** It keeps its connections and answers nothing, as a machine that hangs. */
  freeze(): void
  /** It goes on with what it was at. */
  thaw(): void
  /** On the data that is there. */
  start(): Promise<void>
  /** Ends it and removes its data. */
  remove(): Promise<void>
}

/** Where a version of Postgres is that this machine has. */
function binaries(): string {
  const versions = readdirSync(INSTALLED)
    .map(Number)
    .sort((a, b) => b - a)
  return join(INSTALLED, String(versions[0]), 'bin')
}

function idsOfUser(): { readonly uid: number; readonly gid: number } | object {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, USER], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** A server's first process, and one for each connection: while that alone stood still, they would answer. */
function signalAll(pid: number | undefined, name: 'SIGSTOP' | 'SIGCONT'): void {
  if (pid === undefined) return
  for (const each of [pid, ...childrenOf(pid)]) {
    try {
      process.kill(each, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

function childrenOf(pid: number): readonly number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return listed.trim().split(/\s+/).filter(Boolean).map(Number)
}

/** A server of its own, with an empty database, that ends with this process at the latest. */
export async function createPostgres(settings: Settings = {}): Promise<PostgresServer> {
  const { directory, run } = place()
  run('initdb', [
    ...['--pgdata', join(directory, 'data'), '--username', 'tests', '--auth', 'trust'],
    ...['--encoding', 'UTF8', '--locale', 'C'],
  ])
  return serve(directory, run, settings)
}

type Run = (program: string, args: readonly string[]) => string

function place(): { readonly directory: string; readonly run: Run } {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-postgres-'))
  const ids = idsOfUser()
  if ('uid' in ids) chownSync(directory, ids.uid, ids.gid)
  chmodSync(directory, 0o700)
  const run: Run = (program, args) =>
    execFileSync(join(binaries(), program), args, {
      ...ids,
      encoding: 'utf8',
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  return { directory, run }
}

async function serve(directory: string, run: Run, settings: Settings): Promise<PostgresServer> {
  const port = await freePort()
  const data = join(directory, 'data')
  const all: Settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: directory,
    max_wal_senders: 4,
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`)
  appendFileSync(join(data, 'postgresql.auto.conf'), lines.join(''))
  let child: ChildProcess | null = null
  const end = () => {
    signalAll(child?.pid, 'SIGCONT')
    child?.kill('SIGQUIT')
  }

  async function start(): Promise<void> {
    const started = spawn(join(binaries(), 'postgres'), ['-D', data], {
      ...idsOfUser(),
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child = started
    process.once('exit', end)
    let said = ''
    started.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000)
    })
    for (let tries = 0; tries < READY_TRIES_MAX; tries++) {
      if (started.exitCode !== null) throw new Error(`postgres ended: ${said}`)
      try {
        run('pg_isready', ['--quiet', '--host', '127.0.0.1', '--port', String(port)])
        return
      } catch {
        await sleep(READY_STEP_MS)
      }
    }
    throw new Error(`postgres does not answer: ${said}`)
  }

  async function kill(signal: NodeJS.Signals): Promise<void> {
    process.off('exit', end)
    const killed = child
    child = null
    if (killed === null || killed.exitCode !== null || killed.signalCode !== null) return
    const exited = once(killed, 'exit')
    signalAll(killed.pid, 'SIGCONT')
    killed.kill(signal)
    await exited
  }

  await start()
  return {
    url: `postgres://tests@127.0.0.1:${port}/postgres`,
    get pid() {
      return child?.pid ?? 0
    },
    sql: (statement) =>
      run('psql', [
        ...['--host', '127.0.0.1', '--port', String(port), '--username', 'tests'],
        ...['--dbname', 'postgres', '--no-psqlrc', '--tuples-only', '--no-align'],
        ...['--command', statement],
      ]).trim(),
    async follow(name) {
      const standby = place()
      standby.run('pg_basebackup', [
        ...['--host', '127.0.0.1', '--port', String(port), '--username', 'tests'],
        ...['--pgdata', join(standby.directory, 'data'), '--write-recovery-conf'],
        ...['--checkpoint', 'fast', '--wal-method', 'stream'],
      ])
      return serve(standby.directory, standby.run, {
        primary_conninfo: `host=127.0.0.1 port=${port} user=tests application_name=${name}`,
        synchronous_standby_names: '',
      })
    },
    promote: () => void run('pg_ctl', ['promote', '--pgdata', data, '--wait']),
    // All of its processes would go with it in a power cut: they end once the first is gone.
    kill: () => kill('SIGKILL'),
    freeze: () => signalAll(child?.pid, 'SIGSTOP'),
    thaw: () => signalAll(child?.pid, 'SIGCONT'),
    start,
    async remove() {
      await kill('SIGQUIT')
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
