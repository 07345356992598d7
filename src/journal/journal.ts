/**
 * A replicated log of commits, kept by an engine on other machines than the node that writes it. It
 * has partitions, each with its own sequence of entries, counted from 1 without gaps, and with one
 * leader at a time.
 *
 * Leadership is a number, the epoch, and not a lease: nothing here depends on a clock. A node that
 * acquires a partition gets a higher epoch than all before, and from then on nothing is stored
 * under a lower one, however late it arrives. An append that an earlier leader still has under way
 * is either stored before that, and included in the `seq` that the acquisition returns, or never
 * stored.
 *
 * Every method throws `JournalUnavailable` if the engine does not answer in time or as expected.
 * The request may have been carried out, may be later, or never: the caller repeats the same
 * request, which is safe for every method, or ends.
 */
export interface Journal {
  /**
   * Makes the caller the leader of a partition and fences every leader before it.
   *
   * Idempotent by claim: repeating a claim yields the same acquisition and epoch, even after
   * another claim has acquired the partition. A request that is sent twice or arrives late thus
   * fences nobody. Engines remember at least the last `CLAIMS_KEPT` claims of a partition.
   * @param node the acquiring node, for people who inspect the journal
   * @param claim random and unique to each acquisition, up to `CLAIM_CHARS_MAX`
   * @param after the epoch of the leader to depose, so that no other is; any if absent
   * @throws JournalOvertaken if the partition has another epoch than `after`; nothing is changed
   * then
   */
  acquire(partition: number, node: string, claim: string, after?: number): Promise<Acquisition>

  /** Reads who leads a partition and which entries it has; changes nothing. */
  readHead(partition: number): Promise<JournalHead>

  /**
   * Reports that the leader of a partition lives. It decides nothing: a silent leader may still
   * write, and only an acquisition fences it. The heartbeat of an earlier leader is ignored.
   * @param stored seq of an entry that is known to be stored; followers apply entries up to it
   */
  heartbeat(partition: number, epoch: number, stored: number, state: HeartbeatState): Promise<void>

  /**
   * Stores an entry as the leader of its partition. Once it resolves to `stored`, the entry is as
   * durable as the engine makes anything, on as many machines as the operator configured.
   *
   * Idempotent by place: an entry that is there already, with the same body and epoch, is `stored`.
   * The caller therefore repeats an append of unknown outcome until it is `stored` or `fenced`.
   * `fenced` means that the caller no longer leads the partition; it does not mean that an earlier
   * append was not stored, which only the next leader knows.
   * @param at the entry's place: one more than the last that is stored, or that one again
   * @throws JournalMisuse for another place, another body at the same place, an epoch that was
   * never assigned, or a body that is empty or longer than `BODY_BYTES_MAX`; nothing is stored then
   */
  append(at: Place, body: Uint8Array): Promise<Appended>

  /**
   * Reads the entries after a place, in order and without gaps, as many as fit. The first one is
   * returned however long it is. An empty result means that no entry follows yet.
   * @param afterSeq 0 to begin with the first
   * @param bytesMax of the bodies together
   * @throws JournalTrimmed if the entry after `afterSeq` was trimmed; no entry is skipped silently
   */
  read(partition: number, afterSeq: number, bytesMax: number): Promise<readonly Entry[]>

  /**
   * Removes the entries below a place, which a base outside the journal contains. Places stay
   * counted: a place beyond the last entry removes all, and the next entry is still one more than
   * the last. A lower place never undoes it.
   */
  trim(partition: number, belowSeq: number): Promise<void>

  /** Absent if the engine keeps no snapshots; its entries are then never trimmed. */
  readonly snapshots?: Snapshots

  /** Tells how many servers store an entry. Absent if the engine does not report it. */
  redundancy?(): Promise<Redundancy>

  /** No request may follow. Requests under way end or are abandoned. */
  close(): Promise<void>
}

/** The servers that replicate the one that takes writes. */
export interface Redundancy {
  /** The number of them that each commit waits for; 0 if entries are on one machine. */
  readonly needed: number
  /** The number of connected servers that a commit may wait for. */
  readonly connected: number
}

export interface Acquisition {
  readonly epoch: number
  /** Seq of the last entry, of any leader; 0 if there never was one. */
  readonly seq: number
  /** Seq of the first entry that was not trimmed; one more than `seq` when all were trimmed. */
  readonly first: number
}

/** `leaves`: the leader ends and writes nothing more, so standbys need not wait for silence. */
export type HeartbeatState = 'lives' | 'leaves'

export interface Heartbeat {
  readonly epoch: number
  readonly stored: number
  readonly state: HeartbeatState
  /** Changes with each heartbeat. */
  readonly count: number
}

export interface JournalHead extends Acquisition {
  /** From the last acquisition; null if the partition was never acquired. */
  readonly owner: { readonly node: string; readonly claim: string } | null
  /** The last heartbeat of any leader; null if there never was one. */
  readonly beat: Heartbeat | null
}

export interface Place {
  readonly partition: number
  readonly epoch: number
  readonly seq: number
}

export type Appended =
  | { readonly kind: 'stored' }
  /** @property epoch that of the current leader */
  | { readonly kind: 'fenced'; readonly epoch: number }

export interface Entry {
  readonly seq: number
  readonly epoch: number
  /** Bytes that belong to the caller. */
  readonly body: Uint8Array
}

/**
 * Snapshots that an engine may keep beside the entries of a partition: the caller's state at one
 * entry, so that the entries before it need not be kept. A snapshot is stored in chunks and becomes
 * visible, as a whole, once it is published. At most one is visible; the previous one stays until
 * then.
 *
 * Only the leader stores and publishes. Methods throw `JournalUnavailable` as those of a journal
 * do, and each may be repeated.
 */
export interface Snapshots {
  /** Reads which snapshot is visible; changes nothing. */
  readHead(partition: number): Promise<SnapshotsHead>

  /**
   * Stores a chunk of a snapshot in the making, each after the one before it. Idempotent by place,
   * like an append.
   * @throws JournalMisuse for another body at the same place, an epoch that was never assigned, or
   * a place or body out of bounds; nothing is stored then
   */
  put(at: ChunkPlace, body: Uint8Array): Promise<Appended>

  /**
   * Makes a snapshot the visible one, in place of the previous one. Once it resolves to `stored`,
   * the snapshot is as durable as the engine makes entries. Idempotent by id.
   * @throws SnapshotIncomplete if a chunk is missing; nothing is changed then
   * @throws SnapshotOvertaken if the visible snapshot is of a later entry; nothing is changed then
   * @throws JournalMisuse if the entry is beyond the last one or its successor was trimmed; nothing
   * is changed then
   */
  publish(snapshot: NewSnapshot): Promise<Appended>

  /**
   * Reads a chunk of the visible snapshot.
   * @throws SnapshotGone if another snapshot is visible or the chunk does not exist
   */
  read(partition: number, id: string, index: number): Promise<Uint8Array>

  /**
   * Removes chunks of snapshots that were replaced, or never published and no longer can be. At
   * most `SWEPT_MAX`, so it is repeated until none is left. Chunks of a snapshot in the making
   * under the caller's epoch are removed only once another one is visible, which its publication
   * then reports.
   * @returns the number of removed chunks
   */
  sweep(partition: number, epoch: number): Promise<number>
}

export interface ChunkPlace {
  readonly partition: number
  readonly epoch: number
  /** Random and unique to each snapshot, as a claim is, up to `SNAPSHOT_ID_CHARS_MAX`. */
  readonly id: string
  /** From 0, below `CHUNKS_MAX`. */
  readonly index: number
}

export interface NewSnapshot {
  readonly partition: number
  readonly epoch: number
  readonly id: string
  /** Seq of the last entry that it contains. */
  readonly seq: number
  /** The number of its chunks. */
  readonly chunks: number
  /** By the caller's clock, for people, in milliseconds of Unix time. */
  readonly atMs: number
}

export interface Snapshot extends Omit<NewSnapshot, 'partition'> {
  /** The size of all chunks. */
  readonly bytes: number
}

export interface SnapshotsHead {
  readonly newest: Snapshot | null
  /**
   * Bytes of the first `TAIL_COUNTED_MAX` entries after it, or of all entries without a snapshot.
   */
  readonly tailBytes: number
  /** Space that entries and chunks take by the engine's own count; null if it reports none. */
  readonly engineBytes: number | null
}

/**
 * 16 MiB. The actors of one thread commit some kilobytes in a tick, hundreds when busy, and perhaps
 * a few megabytes at a start after a long time. Engines keep an entry whole in memory, in several
 * copies. A chunk of a snapshot has the same bound.
 */
export const BODY_BYTES_MAX = 16 * 1024 * 1024

/** Characters of a claim: 16 random bytes are 32 in hex. */
export const CLAIM_CHARS_MAX = 64

/** Acquisitions of a partition for which a late repetition is still recognized. */
export const CLAIMS_KEPT = 1_000

/** With chunks of one mebibyte, a snapshot of a tebibyte. */
export const CHUNKS_MAX = 1_048_576

export const SNAPSHOT_ID_CHARS_MAX = 64

/** Chunks that one call removes, so that it delays nothing for long. */
export const SWEPT_MAX = 16

/**
 * Beyond this count, entries are assumed to be like the counted ones, because a count reads all of
 * them.
 */
export const TAIL_COUNTED_MAX = 200_000

/** The outcome of the request is unknown. */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable'
}

/** The caller broke the rules, or two callers act as the same leader. Nothing was done. */
export class JournalMisuse extends Error {
  override readonly name = 'JournalMisuse'
}

/** Another node acquired the partition in the meantime. Nothing was done. */
export class JournalOvertaken extends Error {
  override readonly name = 'JournalOvertaken'

  constructor(partition: number, after: number, epoch: number) {
    super(
      `partition ${partition} of the journal was to be acquired after epoch ${after}, but has epoch ${epoch}`,
    )
  }
}

/** The requested entry was trimmed. Only a base that contains it can replace it. */
export class JournalTrimmed extends Error {
  override readonly name = 'JournalTrimmed'

  constructor(partition: number, afterSeq: number, first: number) {
    super(
      `entry ${afterSeq + 1} was read, but the journal of partition ${partition} now begins with entry ${first}`,
    )
  }
}

/** A chunk of the snapshot to be published was never stored or was removed. */
export class SnapshotIncomplete extends Error {
  override readonly name = 'SnapshotIncomplete'

  constructor({ seq, chunks }: NewSnapshot, there: number) {
    super(
      `the snapshot of entry ${seq} has ${chunks} chunks, but the journal has only ${there} of them`,
    )
  }
}

/** The visible snapshot is of a later entry. */
export class SnapshotOvertaken extends Error {
  override readonly name = 'SnapshotOvertaken'

  constructor({ seq }: NewSnapshot, newest: number) {
    super(`the snapshot of entry ${seq} comes after one of entry ${newest}`)
  }
}

/** The requested chunk does not exist. Another snapshot may be visible. */
export class SnapshotGone extends Error {
  override readonly name = 'SnapshotGone'

  constructor(id: string, index: number) {
    super(`the journal has no chunk ${index} of a snapshot ${id}`)
  }
}

/** @throws JournalMisuse */
export function checkBody(body: Uint8Array): void {
  if (body.length > 0 && body.length <= BODY_BYTES_MAX) return
  throw new JournalMisuse(
    `an entry must have 1 to ${BODY_BYTES_MAX} bytes, but this one has ${body.length}`,
  )
}

/** @throws JournalMisuse */
export function checkClaim(claim: string): void {
  if (claim.length > 0 && claim.length <= CLAIM_CHARS_MAX) return
  throw new JournalMisuse(`a claim must have 1 to ${CLAIM_CHARS_MAX} characters`)
}
