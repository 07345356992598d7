import {
  type Acquisition,
  CLAIMS_KEPT,
  checkBody,
  checkClaim,
  type Entry,
  type Heartbeat,
  type Journal,
  type JournalHead,
  JournalOvertaken,
  JournalTrimmed,
  JournalUnavailable,
} from './journal.js'
import { judgeAppend, type Present } from './judge-append.js'
import { openPostgres, type Query, type Row, type WarningLog } from './postgres-connections.js'
import { readRedundancy } from './postgres-redundancy.js'
import { prepareSchema } from './postgres-schema.js'
import { postgresSnapshots } from './postgres-snapshots.js'

/**
 * The journal in the operator's Postgres, version 15 or later. How many machines have an entry
 * depends on the server's settings: with `synchronous_standby_names` an entry is on a standby
 * before it is `stored`, so a promoted standby has it. Every connection of this module makes
 * commits wait for that (`synchronous_commit`), whatever the server's default is.
 *
 * Appends, acquisitions and trims of a partition wait for each other on its row of `partitions`.
 */

/** The most entries that one read returns, however small they are. */
const ENTRIES_PER_READ_MAX = 1_000

/**
 * The usual append, in one statement: the update waits for a transaction that holds the row, and
 * checks again.
 */
const NEXT_SQL = `
WITH moved AS (
  UPDATE countersign_journal.partitions SET seq = $3
  WHERE partition = $1 AND epoch = $2 AND seq = $3 - 1
  RETURNING 1
)
INSERT INTO countersign_journal.entries (partition, seq, epoch, body)
SELECT $1, $3, $2, $4 FROM moved`

/**
 * This is a write although it changes nothing: its commit waits for the standby, and so for all
 * commits before it. If such a wait was interrupted, an entry may be on this server only.
 */
const HEAD_SQL = `
UPDATE countersign_journal.partitions SET seq = seq WHERE partition = $1
RETURNING epoch, seq, first`

const PRESENT_SQL = `
SELECT epoch, body = $3 AS same FROM countersign_journal.entries
WHERE partition = $1 AND seq = $2`

const READ_SQL = `
SELECT seq, epoch, body FROM (
  SELECT seq, epoch, body, sum(octet_length(body)) OVER (ORDER BY seq) AS bytes FROM (
    SELECT seq, epoch, body FROM countersign_journal.entries
    WHERE partition = $1 AND seq > $2 ORDER BY seq LIMIT ${ENTRIES_PER_READ_MAX}
  ) following
) counted
WHERE bytes <= $3 OR seq = $2 + 1 ORDER BY seq`

const FIRST_SQL = 'SELECT first FROM countersign_journal.partitions WHERE partition = $1'

const READ_HEAD_SQL = `
SELECT p.epoch, p.seq, p.first, c.node, c.claim,
  b.epoch AS beat_epoch, b.stored, b.leaves, b.count
FROM countersign_journal.partitions p
LEFT JOIN countersign_journal.claims c ON c.partition = p.partition AND c.epoch = p.epoch
LEFT JOIN countersign_journal.beats b ON b.partition = p.partition
WHERE p.partition = $1`

const HEARTBEAT_SQL = `
INSERT INTO countersign_journal.beats AS last (partition, epoch, stored, leaves, count)
VALUES ($1, $2, $3, $4, 1)
ON CONFLICT (partition) DO UPDATE SET
  epoch = excluded.epoch, stored = excluded.stored, leaves = excluded.leaves,
  count = last.count + 1, at = now()
WHERE last.epoch <= excluded.epoch`

const TRIM_SQL = `
WITH head AS (
  UPDATE countersign_journal.partitions SET first = greatest(first, least($2, seq + 1))
  WHERE partition = $1 RETURNING first
)
DELETE FROM countersign_journal.entries USING head
WHERE partition = $1 AND seq < head.first`

/**
 * @param urls of the servers, in order of promotion, the primary included
 * @throws JournalUnavailable if no server takes writes now
 * @throws Error if a server cannot hold a journal or the package `pg` is not installed
 */
export async function openPostgresJournal(
  urls: readonly string[],
  log: WarningLog,
): Promise<Journal> {
  const postgres = await openPostgres(urls, log)
  try {
    await prepareAtAny(urls, () => prepareSchema(postgres))
  } catch (error) {
    await postgres.close()
    throw error
  }

  return {
    async acquire(partition, node, claim, after) {
      checkClaim(claim)
      const answer = await postgres.together((query) =>
        acquirePartition(query, partition, node, claim, after),
      )
      if (typeof answer !== 'number') return answer
      throw new JournalOvertaken(partition, after ?? 0, answer)
    },

    async heartbeat(partition, epoch, stored, state) {
      await postgres.together(async (query) => {
        // A heartbeat commits without waiting for a standby, so that a missing standby does not
        // make the leader look dead.
        await query('SET LOCAL synchronous_commit = local')
        await query(HEARTBEAT_SQL, [partition, epoch, stored, state === 'leaves'])
      })
    },

    async readHead(partition) {
      const { rows } = await postgres.query(READ_HEAD_SQL, [partition])
      return journalHeadOf(rows[0])
    },

    async append(at, body) {
      checkBody(body)
      const { partition, epoch, seq } = at
      const bytes = Buffer.from(body)
      const { count } = await postgres.query(NEXT_SQL, [partition, epoch, seq, bytes])
      if (count === 1) return { kind: 'stored' }
      const { head, there } = await postgres.together(async (query) => ({
        head: await heldHead(query, partition),
        there: (await query(PRESENT_SQL, [partition, seq, bytes])).rows[0],
      }))
      return judgeAppend(at, head, there === undefined ? null : presentOf(there))
    },

    async read(partition, afterSeq, bytesMax) {
      const { rows } = await postgres.query(READ_SQL, [partition, afterSeq, bytesMax])
      const entries = rows.map(entryOf)
      if (entries[0]?.seq === afterSeq + 1) return entries
      const { rows: heads } = await postgres.query(FIRST_SQL, [partition])
      const first = Number(heads[0]?.first ?? 1)
      if (afterSeq + 1 < first) throw new JournalTrimmed(partition, afterSeq, first)
      if (entries.length === 0) return entries
      throw new Error(`the journal of partition ${partition} has no entry ${afterSeq + 1}`)
    },

    async trim(partition, belowSeq) {
      await postgres.query(TRIM_SQL, [partition, belowSeq])
    },

    redundancy: () => readRedundancy(postgres.query),

    snapshots: postgresSnapshots(postgres, heldHead),

    close: () => postgres.close(),
  }
}

/** Tries each server once, because the last may be the one that takes writes. */
async function prepareAtAny(urls: readonly string[], prepare: () => Promise<void>): Promise<void> {
  for (let left = urls.length; ; left--) {
    try {
      await prepare()
      return
    } catch (error) {
      if (!(error instanceof JournalUnavailable) || left <= 1) throw error
    }
  }
}

/** @returns the current epoch if it is not `after` */
async function acquirePartition(
  query: Query,
  partition: number,
  node: string,
  claim: string,
  after: number | undefined,
): Promise<Acquisition | number> {
  await query(
    'INSERT INTO countersign_journal.partitions (partition) VALUES ($1) ON CONFLICT DO NOTHING',
    [partition],
  )
  const { epoch: last, ...places } = await heldHead(query, partition)
  const {
    rows: [known],
  } = await query(
    'SELECT epoch FROM countersign_journal.claims WHERE partition = $1 AND claim = $2',
    [partition, claim],
  )
  if (known !== undefined) return { epoch: Number(known.epoch), ...places }
  if (after !== undefined && after !== last) return last
  const epoch = last + 1
  await query('UPDATE countersign_journal.partitions SET epoch = $2 WHERE partition = $1', [
    partition,
    epoch,
  ])
  await query(
    'INSERT INTO countersign_journal.claims (partition, epoch, claim, node) VALUES ($1, $2, $3, $4)',
    [partition, epoch, claim, node],
  )
  await query('DELETE FROM countersign_journal.claims WHERE partition = $1 AND epoch <= $2', [
    partition,
    epoch - CLAIMS_KEPT,
  ])
  return { epoch, ...places }
}

/** Reads a partition's head; its row is locked from then on. */
async function heldHead(query: Query, partition: number): Promise<Acquisition> {
  return headOf((await query(HEAD_SQL, [partition])).rows[0])
}

/** A partition that was never acquired has no row. */
function headOf(row: Row | undefined): Acquisition {
  return {
    epoch: Number(row?.epoch ?? 0),
    seq: Number(row?.seq ?? 0),
    first: Number(row?.first ?? 1),
  }
}

function journalHeadOf(row: Row | undefined): JournalHead {
  const { node, claim } = row ?? {}
  const isOwned = typeof node === 'string' && typeof claim === 'string'
  return { ...headOf(row), owner: isOwned ? { node, claim } : null, beat: heartbeatOf(row) }
}

function heartbeatOf(row: Row | undefined): Heartbeat | null {
  if (row === undefined || row.beat_epoch === null) return null
  return {
    epoch: Number(row.beat_epoch),
    stored: Number(row.stored),
    state: row.leaves === true ? 'leaves' : 'lives',
    count: Number(row.count),
  }
}

const presentOf = (row: Row): Present => ({
  epoch: Number(row.epoch),
  sameBody: row.same === true,
})

function entryOf({ seq, epoch, body }: Row): Entry {
  return { seq: Number(seq), epoch: Number(epoch), body: body as Buffer }
}
