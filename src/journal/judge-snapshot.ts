import {
  type Appended,
  BODY_BYTES_MAX,
  CHUNKS_MAX,
  type ChunkPlace,
  JournalMisuse,
  type NewSnapshot,
  SNAPSHOT_ID_CHARS_MAX,
  type Snapshot,
  SnapshotIncomplete,
  SnapshotOvertaken,
  type Taken,
} from './journal.js'

/**
 * The one rule for all engines: what the putting of a chunk is worth that was not stored at once.
 * @param epoch of the partition
 * @param present null where no chunk is at its place
 * @throws JournalMisuse
 */
export function judgePut(
  at: ChunkPlace,
  epoch: number,
  present: { readonly epoch: number; readonly sameBody: boolean } | null,
): Appended {
  if (at.epoch < epoch) return { kind: 'fenced', epoch }
  const where = `chunk ${at.index} of a snapshot, of epoch ${at.epoch}`
  if (at.epoch > epoch) throw new JournalMisuse(`${where}: that epoch was never given`)
  if (present?.epoch === at.epoch && present.sameBody) return { kind: 'stored' }
  throw new JournalMisuse(`${where}: another one is there`)
}

/** What an engine has of a partition when a snapshot is to be published. */
export interface PublishContext {
  readonly head: Taken
  readonly newest: Pick<Snapshot, 'id' | 'seq'> | null
  /** Of the snapshot's own: how many there are of the indexes below its `chunks`. */
  readonly chunks: number
}

/**
 * The one rule for all engines.
 * @returns null where it is to become the snapshot that is there
 * @throws JournalMisuse, SnapshotIncomplete, SnapshotOvertaken
 */
export function judgePublish(
  snapshot: NewSnapshot,
  { head, newest, chunks }: PublishContext,
): Appended | null {
  const { epoch, id, seq } = snapshot
  if (epoch < head.epoch) return { kind: 'fenced', epoch: head.epoch }
  const where = `the snapshot of entry ${seq}, of epoch ${epoch}`
  if (epoch > head.epoch) throw new JournalMisuse(`${where}: that epoch was never given`)
  if (newest?.id === id) return { kind: 'stored' }
  if (seq > head.seq) throw new JournalMisuse(`${where}: the last entry is ${head.seq}`)
  if (seq + 1 < head.first) throw new JournalMisuse(`${where}: the first entry is ${head.first}`)
  if (newest !== null && seq < newest.seq) throw new SnapshotOvertaken(snapshot, newest.seq)
  if (chunks !== snapshot.chunks) throw new SnapshotIncomplete(snapshot, chunks)
  return null
}

/** @throws JournalMisuse */
export function checkChunk({ id, index }: ChunkPlace, body: Uint8Array): void {
  checkId(id)
  if (!Number.isSafeInteger(index) || index < 0 || index >= CHUNKS_MAX) {
    throw new JournalMisuse(`a snapshot has no chunk ${index}`)
  }
  if (body.length > 0 && body.length <= BODY_BYTES_MAX) return
  throw new JournalMisuse(`a chunk has 1 to ${BODY_BYTES_MAX} bytes, and this one ${body.length}`)
}

/** @throws JournalMisuse */
export function checkNewSnapshot({ id, chunks }: NewSnapshot): void {
  checkId(id)
  if (Number.isSafeInteger(chunks) && chunks > 0 && chunks <= CHUNKS_MAX) return
  throw new JournalMisuse(`a snapshot has 1 to ${CHUNKS_MAX} chunks`)
}

function checkId(id: string): void {
  if (id.length > 0 && id.length <= SNAPSHOT_ID_CHARS_MAX) return
  throw new JournalMisuse(`a snapshot's id has 1 to ${SNAPSHOT_ID_CHARS_MAX} characters`)
}
