import type { Postgres, Query } from './postgres-connections.js'

/** Raised by every change of the tables with which an earlier build could not continue. */
const SCHEMA_VERSION = 2

/** `SHOW server_version_num` of version 15. */
const SERVER_VERSION_MIN = 150_000

/** Held while the tables are created, so that two starts do not create them at once. */
const MAKING_LOCK = 0x636f756e

/**
 * Bodies are many small records that are already packed, so compressing them costs time and saves
 * little.
 */
const TABLES = [
  'CREATE SCHEMA IF NOT EXISTS countersign_journal',
  'CREATE TABLE IF NOT EXISTS countersign_journal.version (version integer NOT NULL)',
  `CREATE TABLE IF NOT EXISTS countersign_journal.partitions (
    partition integer PRIMARY KEY,
    epoch bigint NOT NULL DEFAULT 0,
    seq bigint NOT NULL DEFAULT 0,
    first bigint NOT NULL DEFAULT 1
  )`,
  `CREATE TABLE IF NOT EXISTS countersign_journal.claims (
    partition integer NOT NULL,
    epoch bigint NOT NULL,
    claim text NOT NULL,
    node text NOT NULL,
    taken_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (partition, epoch),
    UNIQUE (partition, claim)
  )`,
  `CREATE TABLE IF NOT EXISTS countersign_journal.entries (
    partition integer NOT NULL,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (partition, seq)
  )`,
  'ALTER TABLE countersign_journal.entries ALTER COLUMN body SET STORAGE EXTERNAL',
  // A separate table, so that heartbeats do not wait for appends.
  `CREATE TABLE IF NOT EXISTS countersign_journal.beats (
    partition integer PRIMARY KEY,
    epoch bigint NOT NULL,
    stored bigint NOT NULL,
    leaves boolean NOT NULL,
    count bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
  )`,
]

/**
 * These tables are newer: they are created if missing, and ignored by builds that do not know them.
 */
const OF_SNAPSHOTS = [
  `CREATE TABLE IF NOT EXISTS countersign_journal.snapshots (
    partition integer PRIMARY KEY,
    id text NOT NULL,
    epoch bigint NOT NULL,
    seq bigint NOT NULL,
    chunks integer NOT NULL,
    bytes bigint NOT NULL,
    at_ms bigint NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS countersign_journal.chunks (
    partition integer NOT NULL,
    id text NOT NULL,
    index integer NOT NULL,
    epoch bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (partition, id, index)
  )`,
  'ALTER TABLE countersign_journal.chunks ALTER COLUMN body SET STORAGE EXTERNAL',
]

/**
 * Creates the tables if they are missing.
 * @throws Error for a server that is too old or does not sync to disk, and for tables of another
 * version
 */
export async function prepareSchema(postgres: Postgres): Promise<void> {
  const wrong = await postgres.together(async (query) => {
    const problem = await problemOf(query)
    if (problem !== null) return problem
    await query('SELECT pg_advisory_xact_lock($1)', [MAKING_LOCK])
    const { rows } = await query("SELECT to_regclass('countersign_journal.version') AS name")
    if (rows[0]?.name === null) {
      for (const statement of TABLES) await query(statement)
      await query('INSERT INTO countersign_journal.version VALUES ($1)', [SCHEMA_VERSION])
    }
    const { rows: versions } = await query('SELECT version FROM countersign_journal.version')
    const version = versions[0]?.version
    if (version === SCHEMA_VERSION) {
      const [made] = (await query("SELECT to_regclass('countersign_journal.chunks') AS name")).rows
      if (made?.name === null) for (const statement of OF_SNAPSHOTS) await query(statement)
      return null
    }
    return `the journal has version ${String(version)}, but this build knows only ${SCHEMA_VERSION}. Start the build that created it, or name an empty database`
  })
  if (wrong !== null) throw new Error(wrong)
}

async function problemOf(query: Query): Promise<string | null> {
  const { rows } = await query(
    "SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync",
  )
  const [server] = rows
  if (Number(server?.version) < SERVER_VERSION_MIN) {
    return 'a journal needs Postgres 15 or later'
  }
  if (server?.fsync !== 'on') {
    return 'fsync is off in Postgres, so a power failure would lose stored entries. Set fsync = on'
  }
  return null
}
