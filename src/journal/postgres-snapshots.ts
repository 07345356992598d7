import {
  type Acquisition,
  type Appended,
  type NewSnapshot,
  type Snapshot,
  SnapshotGone,
  type Snapshots,
  SWEPT_MAX,
  TAIL_COUNTED_MAX,
} from './journal.js'
import { checkChunk, checkNewSnapshot, judgePublish, judgePut } from './judge-snapshot.js'
import type { Postgres, Query, Row } from './postgres-connections.js'

/**
 * Snapshots beside the journal in Postgres. The row of `snapshots` names the visible one. A
 * publication locks the partition's row, as an append does, and then that row; a sweep locks only
 * that row. So no chunk is removed while it is counted, and no append waits for a chunk.
 */

const READ_HEAD_SQL = `
SELECT s.id, s.epoch, s.seq, s.chunks, s.bytes, s.at_ms,
  (SELECT coalesce(sum(octet_length(tail.body)), 0) FROM (
    SELECT body FROM countersign_journal.entries
    WHERE partition = $1 AND seq > coalesce(s.seq, 0) ORDER BY seq LIMIT ${TAIL_COUNTED_MAX}
  ) tail) AS tail_bytes,
  pg_total_relation_size('countersign_journal.entries')
    + pg_total_relation_size('countersign_journal.chunks') AS engine_bytes
FROM (SELECT) nothing LEFT JOIN countersign_journal.snapshots s ON s.partition = $1`

/**
 * It does not lock the row that appends wait for: a chunk stored under an epoch that ends now is
 * never published.
 */
const PUT_SQL = `
INSERT INTO countersign_journal.chunks (partition, id, index, epoch, body)
SELECT $1, $2, $3, $4, $5 FROM countersign_journal.partitions WHERE partition = $1 AND epoch = $4
ON CONFLICT DO NOTHING`

const PRESENT_SQL = `
SELECT p.epoch AS owned, c.epoch, c.body = $4 AS same
FROM (SELECT) nothing
LEFT JOIN countersign_journal.partitions p ON p.partition = $1
LEFT JOIN countersign_journal.chunks c ON c.partition = $1 AND c.id = $2 AND c.index = $3`

const NEWEST_SQL = `
SELECT id, seq FROM countersign_journal.snapshots WHERE partition = $1 FOR UPDATE`

const COUNT_SQL = `
SELECT count(*) AS count, coalesce(sum(octet_length(body)), 0) AS bytes
FROM countersign_journal.chunks WHERE partition = $1 AND id = $2 AND index < $3`

const PUBLISH_SQL = `
INSERT INTO countersign_journal.snapshots (partition, id, epoch, seq, chunks, bytes, at_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (partition) DO UPDATE SET
  id = excluded.id, epoch = excluded.epoch, seq = excluded.seq, chunks = excluded.chunks,
  bytes = excluded.bytes, at_ms = excluded.at_ms`

const READ_SQL = `
SELECT c.body FROM countersign_journal.snapshots s
JOIN countersign_journal.chunks c ON c.partition = s.partition AND c.id = s.id
WHERE s.partition = $1 AND s.id = $2 AND c.index = $3`

const SWEEP_SQL = `
DELETE FROM countersign_journal.chunks WHERE partition = $1 AND (id, index) IN (
  SELECT id, index FROM countersign_journal.chunks
  WHERE partition = $1 AND id <> coalesce($3, '') AND epoch <= $2
    AND (epoch < $2 OR $3::text IS NOT NULL)
  LIMIT ${SWEPT_MAX}
)`

/** @param headOf reads a partition's head and locks its row */
export function postgresSnapshots(
  postgres: Postgres,
  headOf: (query: Query, partition: number) => Promise<Acquisition>,
): Snapshots {
  return {
    async readHead(partition) {
      const [row] = (await postgres.query(READ_HEAD_SQL, [partition])).rows
      return {
        newest: row === undefined || row.id === null ? null : snapshotOf(row),
        tailBytes: Number(row?.tail_bytes ?? 0),
        engineBytes: Number(row?.engine_bytes ?? 0),
      }
    },

    async put(at, body) {
      checkChunk(at, body)
      const { partition, id, index, epoch } = at
      const bytes = Buffer.from(body)
      const { count } = await postgres.query(PUT_SQL, [partition, id, index, epoch, bytes])
      if (count === 1) return { kind: 'stored' }
      const { rows } = await postgres.query(PRESENT_SQL, [partition, id, index, bytes])
      const { owned, epoch: of, same } = rows[0] ?? {}
      const isThere = of !== null && of !== undefined
      const present = isThere ? { epoch: Number(of), sameBody: same === true } : null
      return judgePut(at, Number(owned ?? 0), present)
    },

    async publish(snapshot) {
      checkNewSnapshot(snapshot)
      const judged = await postgres.together((query) => published(query, snapshot))
      // Thrown outside the transaction, in which it would look like a failing server.
      if (judged.answer === null) throw judged.refusal
      return judged.answer
    },

    async read(partition, id, index) {
      const { rows } = await postgres.query(READ_SQL, [partition, id, index])
      if (rows[0] === undefined) throw new SnapshotGone(id, index)
      return rows[0].body as Buffer
    },

    async sweep(partition, epoch) {
      return postgres.together(async (query) => {
        const { rows } = await query(NEWEST_SQL, [partition])
        return (await query(SWEEP_SQL, [partition, epoch, rows[0]?.id ?? null])).count
      })
    },
  }

  async function published(query: Query, snapshot: NewSnapshot): Promise<Judged> {
    const { partition, id, epoch, seq, chunks, atMs } = snapshot
    const head = await headOf(query, partition)
    const [there] = (await query(NEWEST_SQL, [partition])).rows
    const [counted] = (await query(COUNT_SQL, [partition, id, chunks])).rows
    const newest = there === undefined ? null : { id: String(there.id), seq: Number(there.seq) }
    const context = { head, newest, chunks: Number(counted?.count ?? 0) }
    let answer: Appended | null
    try {
      answer = judgePublish(snapshot, context)
    } catch (refusal) {
      return { answer: null, refusal }
    }
    if (answer !== null) return { answer }
    await query(PUBLISH_SQL, [partition, id, epoch, seq, chunks, counted?.bytes, atMs])
    return { answer: { kind: 'stored' } }
  }
}

type Judged =
  | { readonly answer: Appended; readonly refusal?: undefined }
  | { readonly answer: null; readonly refusal: unknown }

function snapshotOf(row: Row): Snapshot {
  return {
    id: String(row.id),
    epoch: Number(row.epoch),
    seq: Number(row.seq),
    chunks: Number(row.chunks),
    bytes: Number(row.bytes),
    atMs: Number(row.at_ms),
  }
}
