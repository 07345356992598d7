import type * as Pg from 'pg'
import { JournalUnavailable } from './journal.js'

/** A row as Postgres has it: big numbers as text, bytes as Buffer. */
export type Row = Readonly<Record<string, unknown>>

export interface Answer {
  readonly rows: readonly Row[]
  /** Rows that were changed. */
  readonly count: number
}

export type Query = (sql: string, values?: readonly unknown[]) => Promise<Answer>

/** Every method throws JournalUnavailable where the outcome is unknown. */
export interface Postgres {
  /** One statement, which is a transaction by itself. */
  readonly query: Query
  /** Statements in one transaction. */
  together<T>(statements: (query: Query) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface WarningLog {
  warn(context: object, message: string): void
}

/** Appends of a process that are under way at once, one a partition, and its takings. */
const CONNECTIONS_MAX = 8

const CONNECT_MS = 3_000

/** Ten times what an entry of the longest length takes on a slow disk. */
const ANSWER_MS = 10_000

/** Whoever waits for as long waits for a transaction whose client is gone; less than ANSWER_MS. */
const LOCK_MS = 5_000

/** A client that froze amid a taking must not keep others from it. */
const IDLE_IN_TRANSACTION_MS = 5_000

/**
 * `synchronous_commit`: a server may have it off by default, and would acknowledge what a crash takes
 * back. On, a commit is on the disk, and on the standby's where the server has one that it waits for.
 */
const SESSION = [
  'synchronous_commit=on',
  `lock_timeout=${LOCK_MS}`,
  `idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`,
]

/**
 * Connections to the one of these servers that takes writes. After anything that failed the next one
 * is asked, so that calls come to a standby once it is promoted.
 * @param urls `postgres://user:password@host:port/database`, with `?sslmode=verify-full` where it is
 *   not this machine
 * @throws Error when the package `pg` is not installed
 */
export async function openPostgres(urls: readonly string[], log: WarningLog): Promise<Postgres> {
  const { Pool } = await loadPg()
  const pools = urls.map((connectionString) => {
    const pool = new Pool({
      connectionString,
      max: CONNECTIONS_MAX,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      application_name: 'countersign',
      options: SESSION.map((setting) => `-c ${setting}`).join(' '),
      verify: (client, done) => void verifyPrimary(client).then(() => done(), done),
    })
    // A connection that breaks says so to its statement as well, if it has one.
    pool.on('connect', (client) => client.on('error', () => undefined))
    // Of one that is not in use: the next call opens another.
    pool.on('error', (err) => log.warn({ err }, 'a connection to the journal ended'))
    return pool
  })
  let current = 0

  async function on<T>(run: (query: Query) => Promise<T>): Promise<T> {
    const asked = current
    try {
      return await runOn(pools[asked] as Pg.Pool, run)
    } catch (cause) {
      if (current === asked) current = (asked + 1) % pools.length
      if (cause instanceof JournalUnavailable) throw cause
      throw new JournalUnavailable('the journal did not answer as it should', { cause })
    }
  }

  return {
    query: (sql, values) => on((query) => query(sql, values)),
    together: (statements) =>
      on(async (query) => {
        await query('BEGIN')
        const result = await statements(query)
        await query('COMMIT')
        return result
      }),
    async close() {
      await Promise.allSettled(pools.map((pool) => pool.end()))
    },
  }
}

interface Notice {
  readonly severity?: string | undefined
  readonly message?: string | undefined
}

/** What fails takes its connection along: a transaction that it leaves open ends with it. */
async function runOn<T>(pool: Pg.Pool, run: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let warned: string | undefined
  const onNotice = ({ severity, message }: Notice) => {
    if (severity === 'WARNING') warned = message ?? severity
  }
  client.on('notice', onNotice)
  let failure: Error | undefined
  try {
    const result = await run(async (sql, values) => {
      const { rows, rowCount } = await client.query<Row>(sql, [...(values ?? [])])
      return { rows, count: rowCount ?? 0 }
    })
    // A commit whose wait for the standby is broken off succeeds, with a warning: it is here, and
    // perhaps nowhere else.
    if (warned !== undefined) throw new JournalUnavailable(`the journal warned: ${warned}`)
    return result
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error))
    throw failure
  } finally {
    client.off('notice', onNotice)
    client.release(failure)
  }
}

/** A standby would be read from, too, and be behind. One that is primary stays it while it runs. */
async function verifyPrimary(client: Pg.PoolClient): Promise<void> {
  const { rows } = await client.query<Row>('SELECT pg_is_in_recovery() AS standby')
  if (rows[0]?.standby !== false) throw new JournalUnavailable('the server is a standby')
}

/** Here alone, so that a service without a journal needs no package of an engine. */
async function loadPg(): Promise<Pick<typeof Pg, 'Pool'>> {
  try {
    return await import('pg')
  } catch (cause) {
    throw new Error('a journal in Postgres needs the package pg: npm install pg', { cause })
  }
}
