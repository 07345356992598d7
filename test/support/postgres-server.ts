import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  copyServer,
  findPostgres,
  followed,
  initialise,
  type PostgresPrograms,
} from '../../scripts/dev/postgres/programs.js'
import { freePort } from './ports.js'

/** The user of the database. */
const USER = 'tests'

/** What Postgres reports while processes of a killed server still hold its data in memory. */
const STILL_ENDING = 'pre-existing shared memory block'
const READY_TRIES_MAX = 600
const READY_STEP_MS = 100

export type Settings = Readonly<Record<string, string | number>>

export interface PostgresServer {
  readonly url: string
  readonly pid: number
  /** Runs one statement. @returns what psql prints of it */
  sql(statement: string): string
  /**
   * Starts a standby that follows this server.
   * @param name its name in `synchronous_standby_names`
   */
  follow(name: string): Promise<PostgresServer>
  /** Makes a standby primary. */
  promote(): void
  /** Acts like a power cut: nothing is ended cleanly. */
  kill(): Promise<void>
  /** The server keeps its connections and answers nothing, like a machine that hangs. */
  freeze(): void
  /** The server continues what it was doing. */
  thaw(): void
  /** Starts the server on the data that is there. */
  start(): Promise<void>
  /** Ends it and removes its data. */
  remove(): Promise<void>
}

/** A server's first process, and one for each connection: while that alone stood still, they would answer. */
export function signalAll(pid: number | undefined, name: 'SIGSTOP' | 'SIGCONT'): void {
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

/** A server of its own, with an empty database. It ends with this process at the latest. */
export async function createPostgres(settings: Settings = {}): Promise<PostgresServer> {
  const place = makePlace()
  await initialise(place.postgres, USER, place.directory, place.data)
  return serve(place, settings)
}

interface Place {
  readonly postgres: PostgresPrograms
  readonly directory: string
  readonly data: string
}

function makePlace(): Place {
  const postgres = findPostgres()
  if (postgres === null)
    throw new Error('run by npm run test:long -- journal: there is no Postgres here')
  const directory = mkdtempSync(join(tmpdir(), 'countersign-postgres-'))
  if (postgres.user !== null) chownSync(directory, postgres.user.uid, postgres.user.gid)
  chmodSync(directory, 0o700)
  return { postgres, directory, data: join(directory, 'data') }
}

async function serve(place: Place, settings: Settings): Promise<PostgresServer> {
  const { postgres, directory, data } = place
  const run = (program: string, args: readonly string[]) =>
    execFileSync(postgres.path(program), args, {
      ...postgres.user,
      cwd: directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const port = await freePort()
  const address = { host: '127.0.0.1', port, user: USER }
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

  /**
   * @returns whether the server could start: what a kill left of the previous one ends a moment
   * later
   */
  async function startOnce(): Promise<boolean> {
    const started = spawn(postgres.path('postgres'), ['-D', data], {
      ...postgres.user,
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
      if (started.exitCode !== null && said.includes(STILL_ENDING)) return false
      if (started.exitCode !== null) throw new Error(`postgres ended: ${said}`)
      try {
        run('pg_isready', ['--quiet', '--host', '127.0.0.1', '--port', String(port)])
        return true
      } catch {
        await sleep(READY_STEP_MS)
      }
    }
    throw new Error(`postgres does not answer: ${said}`)
  }

  async function start(): Promise<void> {
    for (let tries = 0; tries < READY_TRIES_MAX; tries++) {
      if (await startOnce()) return
      process.off('exit', end)
      await sleep(READY_STEP_MS)
    }
    throw new Error('what a kill left of postgres does not end')
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
    url: `postgres://${USER}@127.0.0.1:${port}/postgres`,
    get pid() {
      return child?.pid ?? 0
    },
    sql: (statement) =>
      run('psql', [
        ...['--host', '127.0.0.1', '--port', String(port), '--username', USER],
        ...['--dbname', 'postgres', '--no-psqlrc', '--tuples-only', '--no-align'],
        ...['--command', statement],
      ]).trim(),
    async follow(name) {
      const standby = makePlace()
      await copyServer(standby.postgres, address, standby.directory, standby.data)
      return serve(standby, {
        primary_conninfo: followed(address, name),
        synchronous_standby_names: '',
      })
    },
    promote: () => void run('pg_ctl', ['promote', '--pgdata', data, '--wait']),
    // All of its processes would stop in a power cut; after SIGKILL they end once the first is
    // gone.
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
