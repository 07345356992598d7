import type * as Pg from 'pg'
import { JournalUnavailable } from './journal.js'

/** A row as Postgres returns it: large numbers as text, bytes as Buffer. */
export type Row = Readonly<Record<string, unknown>>

interface Answer {
  readonly rows: readonly Row[]
  /** The number of changed rows. */
  readonly count: number
}

export type Query = (sql: string, values?: readonly unknown[]) => Promise<Answer>

/** Every method throws JournalUnavailable if the outcome is unknown. */
export interface Postgres {
  /** Runs one statement, which is a transaction by itself. */
  readonly query: Query
  /** Runs statements in one transaction. */
  together<T>(statements: (query: Query) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface WarningLog {
  warn(context: object, message: string): void
}

/** A process has one append under way per partition, and acquisitions. */
const CONNECTIONS_MAX = 8

const CONNECT_MS = 3_000

/** Ten times what the longest entry takes on a slow disk. */
const ANSWER_MS = 10_000

/** A lock held for this long belongs to a transaction whose client is gone; less than ANSWER_MS. */
const LOCK_MS = 5_000

/** A client that freezes while it acquires the journal must not block others. */
const IDLE_IN_TRANSACTION_MS = 5_000

/**
 * `synchronous_commit`: if a server has it off by default, it acknowledges what a crash undoes.
 * When it is on, a commit is on the disk, and on that of a standby if the server waits for one.
 */
const SESSION = [
  'synchronous_commit=on',
  `lock_timeout=${LOCK_MS}`,
  `idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`,
]

/**
 * Opens connections to whichever of these servers takes writes. After any failure the next server
 * is tried, so that calls reach a standby once it is promoted.
 * @param urls `postgres://user:password@host:port/database`, with `?sslmode=verify-full` for
 * another machine
 * @throws Error if the package `pg` is not installed
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
    // If a connection breaks during a statement, the statement fails as well.
    pool.on('connect', (client) => client.on('error', () => undefined))
    // An idle connection ended; the next call opens another.
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
      throw new JournalUnavailable('the journal did not answer as expected', { cause })
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

/** A failure closes its connection, which ends a transaction that it left open. */
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
    // If the wait for the standby is interrupted, the commit succeeds with a warning: it is on this
    // server, and perhaps on no other.
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

/** A standby would answer reads, but late. A primary stays one as long as it runs. */
async function verifyPrimary(client: Pg.PoolClient): Promise<void> {
  const { rows } = await client.query<Row>('SELECT pg_is_in_recovery() AS standby')
  if (rows[0]?.standby !== false) throw new JournalUnavailable('the server is a standby')
}

/** Loaded here only, so that a service without a journal needs no engine's package. */
async function loadPg(): Promise<Pick<typeof Pg, 'Pool'>> {
  try {
    return await import('pg')
  } catch (cause) {
    throw new Error('a journal in Postgres needs the package pg: npm install pg', { cause })
  }
}
