import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, chownSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { requirePostgres } from '../scripts/dev/postgres/journal-servers.js'
import {
  copyServer,
  followed,
  initialise,
  type PostgresPrograms,
} from '../scripts/dev/postgres/programs.js'
import { type CpuReading, cpuSpent, readCpu } from './cpu.js'
import { freePort } from './free-port.js'
import { onInterrupt } from './interrupted.js'
import { makeDirectory } from './temporary.js'

/** The servers of a journal in a measurement. */
export interface JournalServers {
  readonly url: string
  /**
   * Reads now; the returned function tells what all their processes spent since, in microseconds.
   */
  meter(): () => number
  stop(): Promise<void>
}

const USER = 'bench'
const HOST = '127.0.0.1'
const STANDBY = 'standby'
const READY_TRIES_MAX = 600
const READY_STEP_MS = 100

/**
 * @param copies number of servers that have a commit before it counts: 1, or 2 with a standby that
 * it waits for
 * @throws Error that explains how to install Postgres if it is missing
 */
export async function startJournalServers(copies: 1 | 2): Promise<JournalServers> {
  const postgres = await requirePostgres()
  const servers: Server[] = []
  const stop = async () => {
    for (const server of servers.toReversed()) await server.stop()
  }
  try {
    const primary = await startServer(postgres, {}, (place) =>
      initialise(postgres, USER, place.directory, place.data),
    )
    servers.push(primary)
    const address = { host: HOST, port: primary.port, user: USER }
    if (copies === 2) {
      const settings = {
        primary_conninfo: followed(address, STANDBY),
        synchronous_standby_names: '',
      }
      servers.push(
        await startServer(postgres, settings, (place) =>
          copyServer(postgres, address, place.directory, place.data),
        ),
      )
      await primary.sql(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`)
      await primary.sql('SELECT pg_reload_conf()')
      await followsInStep(primary)
    }
    return {
      url: `postgres://${USER}@${HOST}:${primary.port}/postgres`,
      meter: () => meterOf(servers.map(({ pid }) => pid)),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Server {
  readonly pid: number
  readonly port: number
  sql(statement: string): Promise<string>
  stop(): Promise<void>
}

interface Place {
  readonly directory: string
  readonly data: string
}

async function startServer(
  postgres: PostgresPrograms,
  settings: Readonly<Record<string, string>>,
  fill: (place: Place) => Promise<void>,
): Promise<Server> {
  const temporary = makeDirectory()
  const directory = temporary.path
  const data = join(directory, 'data')
  if (postgres.user !== null) chownSync(directory, postgres.user.uid, postgres.user.gid)
  await fill({ directory, data })
  const port = await freePort()
  const all = {
    ...{ port: String(port), listen_addresses: HOST, unix_socket_directories: directory },
    ...{ max_wal_senders: '4', ...settings },
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`)
  appendFileSync(join(data, 'postgresql.auto.conf'), lines.join(''))
  const child = spawn(postgres.path('postgres'), ['-D', data], {
    ...postgres.user,
    ...{ cwd: directory, stdio: 'ignore' },
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const end = () => {
    child.kill('SIGQUIT')
    return gone
  }
  const forget = onInterrupt(end)
  const at = ['--host', HOST, '--port', String(port), '--username', USER]
  await ready(child, () => postgres.run('pg_isready', ['--quiet', ...at.slice(0, 4)], directory))
  return {
    pid: child.pid ?? 0,
    port,
    sql: (statement) =>
      postgres.run(
        'psql',
        [...at, '--dbname', 'postgres', '--no-psqlrc', '-At', '--command', statement],
        directory,
      ),
    async stop() {
      await end()
      forget()
      temporary.remove()
    },
  }
}

async function ready(child: ChildProcess, ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < READY_TRIES_MAX && child.exitCode === null; tries++) {
    try {
      await ask()
      return
    } catch {
      await sleep(READY_STEP_MS)
    }
  }
  child.kill('SIGQUIT')
  throw new Error('a server of Postgres was not ready')
}

async function followsInStep({ sql }: Server): Promise<void> {
  for (let tries = 0; tries < READY_TRIES_MAX; tries++) {
    const states = await sql('SELECT sync_state FROM pg_stat_replication')
    if (states.trim() === 'sync') return
    await sleep(READY_STEP_MS)
  }
  throw new Error('the standby of Postgres does not follow its primary')
}

/** A process that has ended since is left out; those that serve the journal live longest. */
function meterOf(firsts: readonly number[]): () => number {
  const before = readAll(firsts)
  return () =>
    [...readAll(firsts)].reduce(
      (sum, [pid, after]) => sum + cpuSpent(pid, before.get(pid) ?? new Map(), after).total,
      0,
    )
}

function readAll(firsts: readonly number[]): Map<number, CpuReading> {
  const readings = new Map<number, CpuReading>()
  for (const pid of firsts.flatMap((first) => [first, ...childrenOf(first)])) {
    try {
      readings.set(pid, readCpu(pid))
    } catch {
      // It ended between the listing and the reading.
    }
  }
  return readings
}

function childrenOf(pid: number): readonly number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return listed.trim().split(/\s+/).filter(Boolean).map(Number)
}
