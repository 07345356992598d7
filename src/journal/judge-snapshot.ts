import {
  type Acquisition,
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
} from './journal.js'

/**
 * The one rule for all engines: the answer to a chunk that was not stored at once.
 * @param epoch of the partition
 * @param present null if no chunk is at its place
 * @throws JournalMisuse
 */
export function judgePut(
  at: ChunkPlace,
  epoch: number,
  present: { readonly epoch: number; readonly sameBody: boolean } | null,
): Appended {
  if (at.epoch < epoch) return { kind: 'fenced', epoch }
  const where = `chunk ${at.index} of a snapshot, of epoch ${at.epoch}`
  if (at.epoch > epoch) throw new JournalMisuse(`${where}: that epoch was never assigned`)
  if (present?.epoch === at.epoch && present.sameBody) return { kind: 'stored' }
  throw new JournalMisuse(`${where}: that place has another chunk`)
}

/** The state of a partition in an engine when a snapshot is to be published. */
interface PublishContext {
  readonly head: Acquisition
  readonly newest: Pick<Snapshot, 'id' | 'seq'> | null
  /** The number of the snapshot's chunks with an index below its `chunks`. */
  readonly chunks: number
}

/**
 * The one rule for all engines.
 * @returns null if the snapshot is to become the visible one
 * @throws JournalMisuse, SnapshotIncomplete, SnapshotOvertaken
 */
export function judgePublish(
  snapshot: NewSnapshot,
  { head, newest, chunks }: PublishContext,
): Appended | null {
  const { epoch, id, seq } = snapshot
  if (epoch < head.epoch) return { kind: 'fenced', epoch: head.epoch }
  const where = `the snapshot of entry ${seq}, of epoch ${epoch}`
  if (epoch > head.epoch) throw new JournalMisuse(`${where}: that epoch was never assigned`)
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
  throw new JournalMisuse(
    `a chunk must have 1 to ${BODY_BYTES_MAX} bytes, but this one has ${body.length}`,
  )
}

/** @throws JournalMisuse */
export function checkNewSnapshot({ id, chunks }: NewSnapshot): void {
  checkId(id)
  if (Number.isSafeInteger(chunks) && chunks > 0 && chunks <= CHUNKS_MAX) return
  throw new JournalMisuse(`a snapshot must have 1 to ${CHUNKS_MAX} chunks`)
}

function checkId(id: string): void {
  if (id.length > 0 && id.length <= SNAPSHOT_ID_CHARS_MAX) return
  throw new JournalMisuse(`a snapshot's id must have 1 to ${SNAPSHOT_ID_CHARS_MAX} characters`)
}
