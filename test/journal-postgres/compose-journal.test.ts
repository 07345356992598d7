import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { findPostgres, type PostgresPrograms } from '../../scripts/dev/postgres/programs.js'
import { readJournalFile } from '../../src/config/journal.js'
import type { Journal } from '../../src/journal/journal.js'
import { openPostgresJournal } from '../../src/journal/postgres-journal.js'
import { freePort } from '../support/ports.js'

const SLOW = { timeout: 60_000 }
const TIMEOUT_MS = 300_000
const PARTITION = 0
/** As they are in the files, where ports of this run take their place. */
const PORTS = {
  journal: '15432',
  'journal-standby': '15433',
  'journal-standby-2': '15434',
} as const
const STANDBYS = ['journal-standby', 'journal-standby-2'] as const
type Name = keyof typeof PORTS

interface Compose {
  readonly services: Readonly<
    Record<Name, { readonly command: readonly string[]; readonly environment: Env }>
  >
}
type Env = Readonly<Record<string, string>>

const log = { warn: () => undefined }

/** The three servers of compose.cluster.yaml by their commands and scripts, without containers. */
describe('the journal of the compose file', { timeout: TIMEOUT_MS }, () => {
  const { services } = parseYaml(readFileSync('compose.cluster.yaml', 'utf8')) as Compose
  let postgres: PostgresPrograms
  let directory: string
  let ports: Record<Name, string>
  const running = new Map<Name, ChildProcess>()
  const journals: Journal[] = []

  const at = (name: string) => join(directory, name)
  const environmentOf = (name: Name): Record<string, string> => ({
    PATH: `${postgres.path('')}:${process.env.PATH}`,
    PGDATA: at(name),
    PGHOST: directory,
    PGPORT: ports[name],
    PRIMARY_PORT: ports.journal,
    STANDBY_NAME: services[name].environment.STANDBY_NAME ?? '',
    SECRETS: at('secrets'),
  })
  const commandOf = (name: Name) =>
    services[name].command.map((word) => word.replace(PORTS[name], ports[name]))

  function start(name: Name, args: readonly string[]): ChildProcess {
    const [program = '', ...rest] = args
    const child = spawn(program, [...rest, '-c', `unix_socket_directories=${directory}`], {
      ...postgres.user,
      ...{ cwd: directory, env: environmentOf(name), stdio: 'ignore' },
    })
    const end = () => child.kill('SIGQUIT')
    process.once('exit', end)
    child.once('exit', () => process.off('exit', end))
    running.set(name, child)
    return child
  }

  async function end(name: Name, signal: NodeJS.Signals = 'SIGQUIT'): Promise<void> {
    const child = running.get(name)
    running.delete(name)
    if (child === undefined || child.exitCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  const sql = (name: Name, statement: string, user = 'postgres') =>
    postgres
      .run(
        'psql',
        [
          ...['--no-psqlrc', '-At', '--no-password', '--host', directory, '--port', ports[name]],
          ...['--username', user, '--dbname', 'postgres', '--command', statement],
        ],
        directory,
      )
      .then((said) => said.trim())

  const answers = (name: Name) =>
    vi.waitFor(() => sql(name, 'SELECT 1'), { ...SLOW, interval: 100 })

  const startStandby = (name: Name) =>
    start(name, ['sh', at('journal-standby.sh'), ...commandOf(name)])

  beforeAll(async () => {
    const found = findPostgres()
    if (found === null)
      throw new Error('run by npm run test:long -- journal: there is no Postgres here')
    postgres = found
    directory = mkdtempSync(join(tmpdir(), 'cs-compose-'))
    ports = {
      journal: String(await freePort()),
      'journal-standby': String(await freePort()),
      'journal-standby-2': String(await freePort()),
    }
    const made = spawn('sh', ['scripts/container/cluster-secrets.sh', at('secrets')], {
      stdio: 'ignore',
    })
    expect(await once(made, 'exit')).toEqual([0, null])
    for (const name of ['journal-primary.sh', 'journal-standby.sh']) {
      cpSync(join('scripts/container', name), at(name))
    }
    for (const name of readdirSync(at('secrets'))) {
      if (name === 'authorities') continue
      const text = readFileSync(at(`secrets/${name}`), 'utf8')
      const moved = Object.keys(PORTS).reduce(
        (moving, each) => moving.replaceAll(PORTS[each as Name], ports[each as Name]),
        text,
      )
      writeFileSync(at(`secrets/${name}`), moved)
    }
    // A copy that broke off: it has no word yet that it is one.
    mkdirSync(join(at('journal-standby'), 'base'), { recursive: true })
    writeFileSync(join(at('journal-standby'), 'base', 'left'), '')
    mkdirSync(at('journal'))
    own(directory)
    // What the entry point of the image does.
    const { POSTGRES_INITDB_ARGS: given = '' } = services.journal.environment
    await postgres.run('initdb', ['--pgdata', at('journal'), '--username', 'postgres', given], '/')
    start('journal', ['postgres', '-c', 'listen_addresses='])
    await answers('journal')
    const script = spawn('bash', [at('journal-primary.sh')], {
      ...postgres.user,
      ...{ cwd: directory, env: environmentOf('journal'), stdio: 'inherit' },
    })
    expect(await once(script, 'exit')).toEqual([0, null])
    await end('journal', 'SIGINT')
    start('journal', commandOf('journal'))
    await answers('journal')
    for (const each of STANDBYS) {
      if (each !== 'journal-standby') mkdirSync(at(each))
      own(at(each))
      startStandby(each)
      await answers(each)
    }
  }, TIMEOUT_MS)
  afterAll(async () => {
    for (const journal of journals) await journal.close()
    for (const name of [...running.keys()]) await end(name)
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
  })

  /** For the user of the servers. */
  function own(path: string): void {
    if (postgres.user === null) return
    chownSync(path, postgres.user.uid, postgres.user.gid)
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const below = join(path, entry.name)
      if (entry.isDirectory()) own(below)
      else chownSync(below, postgres.user.uid, postgres.user.gid)
    }
  }

  async function open(): Promise<Journal> {
    const { postgres: urls = [] } = readJournalFile(at('secrets/journal.json'))
    const journal = await openPostgresJournal(urls, log)
    journals.push(journal)
    return journal
  }

  const entry = (seq: number) => Buffer.from(`entry ${seq}`)

  test('has each commit wait for either standby, and goes on with the further one when it is promoted', async () => {
    const followers = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'"
    await expect.poll(() => sql('journal', followers), SLOW).toBe('2')
    const journal = await open()
    const { epoch } = await journal.acquire(PARTITION, 'test', 'a claim')
    const append = (seq: number) => journal.append({ partition: PARTITION, epoch, seq }, entry(seq))
    expect(await append(1)).toEqual({ kind: 'stored' })

    await end('journal-standby')
    expect(await append(2)).toEqual({ kind: 'stored' })
    await end('journal-standby-2')
    let isStored = false
    const waits = append(3).then((answer) => {
      isStored = true
      return answer
    })
    const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    await expect.poll(() => sql('journal', waiting), SLOW).toBe('1')
    expect(isStored).toBe(false)
    startStandby('journal-standby-2')
    expect(await waits).toEqual({ kind: 'stored' })

    // The one that was away lacks what the other has.
    startStandby('journal-standby')
    await answers('journal-standby')
    await end('journal', 'SIGKILL')
    for (const each of STANDBYS) {
      await sql(each, "ALTER SYSTEM SET primary_conninfo = ''")
      await sql(each, 'SELECT pg_reload_conf()')
    }
    await sql('journal-standby-2', 'SELECT pg_promote()')
    const conninfo = `host=127.0.0.1 port=${ports['journal-standby-2']} user=countersign_standby passfile=${at('secrets/standby.pgpass')} application_name=journal_standby`
    await sql('journal-standby', `ALTER SYSTEM SET primary_conninfo = '${conninfo}'`)
    await sql('journal-standby', 'SELECT pg_reload_conf()')
    await expect.poll(() => append(4).catch(() => null), SLOW).toEqual({ kind: 'stored' })
    const entries = await journal.read(PARTITION, 0, 1_000_000)
    expect(entries.map(({ body }) => Buffer.from(body).toString())).toEqual(
      [1, 2, 3, 4].map((seq) => entry(seq).toString()),
    )
  })

  test('lets nobody in by its address who has no password, and gives the journal’s role nothing else', async () => {
    const name = 'journal-standby'
    const byAddress = (user: string) =>
      postgres.run(
        'psql',
        [
          ...['--no-psqlrc', '--no-password', '--host', '127.0.0.1', '--port', ports[name]],
          ...['--username', user, '--dbname', 'postgres', '--command', 'SELECT 1'],
        ],
        directory,
      )
    for (const user of ['postgres', 'countersign', 'countersign_standby']) {
      await expect(byAddress(user)).rejects.toThrow('no password supplied')
    }
    const rights = `SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication FROM pg_roles WHERE rolname = 'countersign'`
    expect(await sql(name, rights)).toBe('f|f|f|f')
  })
})
