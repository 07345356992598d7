import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { BegunInstance } from '../begin-instance.js'
import { writeJsonAtomically } from '../home/json-file.js'
import { PRIVATE_DIR_MODE, PRIVATE_FILE_MODE } from '../home/layout.js'
import type { SupervisedProcess } from '../supervision/supervised-process.js'
import { superviseProcess } from '../supervision/supervised-process.js'
import {
  copyServer,
  findPostgres,
  followed,
  initialise,
  type PostgresAddress,
  type PostgresPrograms,
  refuseOld,
} from './programs.js'

const USER = 'countersign'
/** Each listens only on a socket in a directory that only its user can enter. */
const SOCKET_NUMBER = 5432
/** Each has a directory, and a name by which the primary knows it. */
const STANDBYS = [
  { directory: 'standby', name: 'standby_1' },
  { directory: 'standby-2', name: 'standby_2' },
] as const
/** Each commit waits for one of the two, so that the other may be away. */
const SYNCHRONOUS = `ANY 1 (${STANDBYS.map(({ name }) => name).join(', ')})`
const READY_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 30_000
const POLL_MS = 100
/** Other users may pass through the home to their own files, without listing it. */
const PASSAGE_MODE = 0o711
/** The WAL kept for a standby that was away. */
const WAL_KEPT = '256MB'
const SHARED_BUFFERS = '32MB'

const NOT_HERE = `this needs Postgres, which is not here. On Debian or Ubuntu:
    sudo apt-get install postgresql
Elsewhere a Postgres from version 15 on, whose \`postgres\` is in PATH (Homebrew: brew install postgresql@17).`

/** @throws Error that tells how to install Postgres when it is missing or too old */
export async function requirePostgres(): Promise<PostgresPrograms> {
  const postgres = findPostgres()
  if (postgres === null) throw new Error(NOT_HERE)
  refuseOld(await postgres.run('postgres', ['--version'], '/'))
  return postgres
}

/** Each journal has its own servers. */
export interface JournalServers {
  /** A directory below the home. */
  readonly directory: string
  readonly name: string
}

const OF_SERVICE: JournalServers = { directory: 'postgres', name: 'Postgres' }

interface Place {
  readonly postgres: PostgresPrograms
  /** The directory of its data and socket. */
  readonly directory: string
  readonly data: string
  readonly address: PostgresAddress
}

/**
 * Starts three servers on the data that is there, and makes what is missing: a commit is on the disks of
 * the primary and of one standby before it counts.
 * @param journalFile written here, with the addresses of all three
 * @throws Error with their output
 */
export async function startJournalServers(
  begun: BegunInstance,
  postgres: PostgresPrograms,
  journalFile: string,
  { directory, name }: JournalServers = OF_SERVICE,
): Promise<void> {
  const { home, run } = begun
  const primary = placeOf(postgres, join(home.root, directory, 'primary'))
  const standbys = STANDBYS.map((standby) => ({
    name: standby.name,
    place: placeOf(postgres, join(home.root, directory, standby.directory)),
  }))
  const places = [primary, ...standbys.map(({ place }) => place)]
  if (postgres.user !== null) chmodSync(home.root, PASSAGE_MODE)
  for (const place of places) prepare(place)

  await make(primary, begun, (data, ends) =>
    initialise(postgres, USER, primary.directory, data, ends),
  )
  await run(serverOf(begun, name, primary, [`synchronous_standby_names=${SYNCHRONOUS}`]))
  await Promise.all(
    standbys.map(async ({ name: known, place }, index) => {
      await make(place, begun, (data, ends) =>
        copyServer(postgres, primary.address, place.directory, data, ends),
      )
      const follows = `primary_conninfo=${followed(primary.address, known)}`
      const server = `${name} standby ${index + 1}`
      await run(serverOf(begun, server, place, ['synchronous_standby_names=', follows]))
    }),
  )
  const urls = places.map(urlOf)
  writeJsonAtomically(journalFile, { postgres: urls }, PRIVATE_FILE_MODE)
}

function placeOf(postgres: PostgresPrograms, directory: string): Place {
  const address = { host: directory, port: SOCKET_NUMBER, user: USER }
  return { postgres, directory, data: join(directory, 'data'), address }
}

function urlOf({ directory }: Place): string {
  const socket = new URLSearchParams({ host: directory, port: String(SOCKET_NUMBER) })
  return `postgres://${USER}@localhost/postgres?${socket}`
}

/** @throws Error when its user cannot reach its own directory */
function prepare({ directory, postgres: { user } }: Place): void {
  const above = join(directory, '..')
  mkdirSync(directory, { recursive: true, mode: PRIVATE_DIR_MODE })
  if (user === null) return
  for (const each of [above, directory]) chownSync(each, user.uid, user.gid)
  const { status } = spawnSync('test', ['-x', directory], user)
  if (status === 0) return
  throw new Error(
    `${directory} cannot be reached by the user of Postgres, which does not run as root: set COUNTERSIGN_HOME to a directory below ones that everybody may go through, or start this as another user`,
  )
}

/** An interrupted step is repeated: data gets its name when it is complete. */
async function make(
  { data }: Place,
  { shutdown }: BegunInstance,
  begin: (data: string, ends: AbortSignal) => Promise<void>,
): Promise<void> {
  if (existsSync(data)) return
  const half = `${data}.half`
  rmSync(half, { recursive: true, force: true })
  const ends = new AbortController()
  await shutdown.defer(() => ends.abort())
  await begin(half, ends.signal)
  renameSync(half, data)
}

function serverOf(
  { home, observer }: BegunInstance,
  name: string,
  { postgres, directory, data }: Place,
  own: readonly string[],
): SupervisedProcess {
  const settings = [
    'listen_addresses=',
    `unix_socket_directories="${directory.replaceAll('"', '""')}"`,
    `port=${SOCKET_NUMBER}`,
    `wal_keep_size=${WAL_KEPT}`,
    `shared_buffers=${SHARED_BUFFERS}`,
    ...own,
  ]
  return superviseProcess(
    {
      name,
      channel: 'none',
      readyTimeoutMs: READY_TIMEOUT_MS,
      // A fast shutdown ends open connections.
      stopSignal: 'SIGINT',
      stopTimeoutMs: STOP_TIMEOUT_MS,
      logPath: join(home.logs, `${name.toLowerCase().replaceAll(' ', '-')}.log`),
      launch: async () => ({
        command: postgres.path('postgres'),
        args: ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
        env: process.env,
        cwd: directory,
        ...(postgres.user === null ? {} : { user: postgres.user }),
      }),
      awaitReady: (signal) => answers(postgres, directory, signal),
    },
    observer,
  )
}

async function answers(
  postgres: PostgresPrograms,
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  const asked = [
    ...['--quiet', '--host', directory, '--port', String(SOCKET_NUMBER)],
    ...['--username', USER, '--dbname', 'postgres'],
  ]
  while (!signal.aborted) {
    const isReady = await promisify(execFile)(postgres.path('pg_isready'), asked).then(
      () => true,
      () => false,
    )
    if (isReady) return
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
}
