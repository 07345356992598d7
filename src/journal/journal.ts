/**
 * A replicated log of what was committed, kept by an engine on other machines than the one that
 * writes it. It is cut into partitions, each with a sequence of entries of its own, counted from 1
 * without a gap, and with one owner at a time.
 *
 * Ownership is a number, the epoch, and no lease: nothing here depends on a clock. Whoever takes a
 * partition gets an epoch above all before it, and from then on nothing is stored under a lower one,
 * however late it arrives: what an earlier owner still has under way is stored before the taking,
 * and is in the `seq` that the taking returns, or never.
 *
 * Every method throws `JournalUnavailable` where the engine does not answer in time or not as it
 * should. What was asked for may have happened, may happen later, or never: the caller asks the same
 * again, which is safe for each of them, or ends.
 */
export interface Journal {
  /**
   * Makes the caller the owner of a partition, and ends every owner before it.
   *
   * Idempotent by claim: the same claim, asked for again, is the same taking and gets the same epoch,
   * also after another claim has taken the partition from it. A request that was sent twice, or comes
   * late, so ends nobody. Engines remember at least the last `CLAIMS_KEPT` claims of a partition.
   * @param node for people who look at the journal: who took it
   * @param claim drawn anew for each taking, so that nobody else has the same: `CLAIM_CHARS_MAX`
   * @param after the epoch to take it from: nobody is ended but the owner that was seen. Absent: any
   * @throws JournalOvertaken where the partition is at another epoch than `after`; nothing is changed
   */
  take(partition: number, node: string, claim: string, after?: number): Promise<Taken>

  /** Who owns a partition, and what there is of it; changes nothing. */
  look(partition: number): Promise<JournalHead>

  /**
   * Says that the owner of a partition lives, for whoever looks. It decides nothing: one that is
   * silent may still write, and only a taking ends it. Of an earlier owner it is passed over.
   * @param stored seq of an entry that is known to be stored: followers go so far
   */
  beat(partition: number, epoch: number, stored: number, state: BeatState): Promise<void>

  /**
   * Stores an entry as the owner of its partition. Once it resolves as `stored`, the entry is as
   * durable as the engine makes anything, on as many machines as the operator asked for.
   *
   * Idempotent by place: an entry that is there already, with the same body and of the same epoch, is
   * `stored`. So an append whose outcome is unknown is asked for again until it is `stored` or
   * `fenced`. `fenced` says that the caller owns the partition no more; of an entry that was asked for
   * before, it does not say that it was not stored: the next owner knows that.
   * @param at the entry's place: one more than the last that is stored, or that one again
   * @throws JournalMisuse for another place, another body at the same place, an epoch that was never
   *   given, or a body of no bytes or more than `BODY_BYTES_MAX`; nothing is stored then
   */
  append(at: Place, body: Uint8Array): Promise<Appended>

  /**
   * Entries after a place, in their order and without a gap, as many as fit: the first of them always
   * comes, however long it is. None: there is none after it yet.
   * @param afterSeq 0: from the first
   * @param bytesMax of the bodies together
   * @throws JournalTrimmed where the entry after it was trimmed: nothing is passed over in silence
   */
  read(partition: number, afterSeq: number, bytesMax: number): Promise<readonly Entry[]>

  /**
   * Forgets the entries below a place, which a base elsewhere holds. Places stay counted: one beyond
   * the last entry forgets them all, and the next is still one more than the last. Never undone by a
   * lower place.
   */
  trim(partition: number, belowSeq: number): Promise<void>

  /** Absent: the engine keeps none, so its entries are never trimmed. */
  readonly snapshots?: Snapshots

  /** Nothing may be asked for afterwards. What is under way ends, or is given up. */
  close(): Promise<void>
}

export interface Taken {
  readonly epoch: number
  /** Of the last entry, all of earlier owners' included; 0 where there never was one. */
  readonly seq: number
  /** Of the first entry that was not trimmed: one more than `seq` where there is none. */
  readonly first: number
}

/** `leaves`: the owner ends, and writes nothing more; whoever waits need not wait for its silence. */
export type BeatState = 'lives' | 'leaves'

export interface Beat {
  readonly epoch: number
  readonly stored: number
  readonly state: BeatState
  /** Another one with each beat. */
  readonly count: number
}

export interface JournalHead extends Taken {
  /** Of its last taking; null where nobody ever took it. */
  readonly owner: { readonly node: string; readonly claim: string } | null
  /** The last of any owner; null where none ever said that it lives. */
  readonly beat: Beat | null
}

export interface Place {
  readonly partition: number
  readonly epoch: number
  readonly seq: number
}

export type Appended =
  | { readonly kind: 'stored' }
  /** @property epoch of the owner there is */
  | { readonly kind: 'fenced'; readonly epoch: number }

export interface Entry {
  readonly seq: number
  readonly epoch: number
  /** The caller's own. */
  readonly body: Uint8Array
}

/**
 * What an engine may keep beside the entries of a partition: the caller's state as of one of them, so
 * that those before it need not be kept. It is put in chunks, and is there once it is published: whole,
 * or not at all. One at most is there; the one before it is there until then.
 *
 * Only the owner puts and publishes. Methods throw `JournalUnavailable` as those of a journal do, and
 * each may be asked for again.
 */
export interface Snapshots {
  /** What there is; changes nothing. */
  look(partition: number): Promise<SnapshotsHead>

  /**
   * Stores a chunk of a snapshot that is being made, each after the one before it. Idempotent by
   * place, as an append.
   * @throws JournalMisuse for another body at the same place, an epoch that was never given, a place
   *   or a body that is out of bounds; nothing is stored then
   */
  put(at: ChunkPlace, body: Uint8Array): Promise<Appended>

  /**
   * Makes a snapshot the one that is there, in place of the one before it. Once it resolves as
   * `stored`, the snapshot is as durable as the engine makes entries. Idempotent by id.
   * @throws SnapshotIncomplete where a chunk of it is not there; nothing is changed
   * @throws SnapshotOvertaken where one of a later entry is there; nothing is changed
   * @throws JournalMisuse where it is of another place than it may be: not beyond the last entry, and
   *   the entry after it is kept; nothing is changed
   */
  publish(snapshot: NewSnapshot): Promise<Appended>

  /**
   * A chunk of the snapshot that is there.
   * @throws SnapshotGone where it is not that one any more, or the chunk is not there
   */
  read(partition: number, id: string, index: number): Promise<Uint8Array>

  /**
   * Forgets chunks of what is no snapshot: of one that another took the place of, or that was never
   * published and will not be. `SWEPT_MAX` at most, so that it is asked for again until there is none.
   * Of the caller's own epoch, those of one that is being made go only once another is there, which
   * its publishing finds out.
   * @returns how many
   */
  sweep(partition: number, epoch: number): Promise<number>
}

export interface ChunkPlace {
  readonly partition: number
  readonly epoch: number
  /** Drawn anew for each snapshot, as a claim is: `SNAPSHOT_ID_CHARS_MAX`. */
  readonly id: string
  /** From 0, below `CHUNKS_MAX`. */
  readonly index: number
}

export interface NewSnapshot {
  readonly partition: number
  readonly epoch: number
  readonly id: string
  /** Of the last entry that it holds. */
  readonly seq: number
  /** How many it has. */
  readonly chunks: number
  /** By the caller's clock, for people: milliseconds since the epoch of Unix. */
  readonly atMs: number
}

export interface Snapshot extends Omit<NewSnapshot, 'partition'> {
  /** Of its chunks together. */
  readonly bytes: number
}

export interface SnapshotsHead {
  readonly newest: Snapshot | null
  /** Of the first `TAIL_COUNTED_MAX` entries after it; of all entries where there is none. */
  readonly tailBytes: number
  /** What entries and chunks take, by the engine's own count; null where it has none. */
  readonly engineBytes: number | null
}

/**
 * What the actors of one thread commit in a tick is some kilobytes, and hundreds where it is busy; of
 * a start after a long time perhaps a few megabytes. Engines keep an entry whole in memory, in several
 * copies: 16 MiB. A chunk of a snapshot has as many at most.
 */
export const BODY_BYTES_MAX = 16 * 1024 * 1024

/** Characters of a claim: 16 random bytes are 32 in hex. */
export const CLAIM_CHARS_MAX = 64

/** Takings of a partition of which a late repetition is still known as one. */
export const CLAIMS_KEPT = 1_000

/** Of a mebibyte each, which is what they are cut to, a snapshot of a tebibyte. */
export const CHUNKS_MAX = 1_048_576

export const SNAPSHOT_ID_CHARS_MAX = 64

/** Chunks that one call forgets: it holds up nothing for long. */
export const SWEPT_MAX = 16

/** More than these are taken to be like these: a count reads all of them. */
export const TAIL_COUNTED_MAX = 200_000

/** The outcome is unknown. */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable'
}

/** The caller broke the rules, or two think that they are the same owner. Nothing was done. */
export class JournalMisuse extends Error {
  override readonly name = 'JournalMisuse'
}

/** Somebody else took the partition meanwhile. Nothing was done. */
export class JournalOvertaken extends Error {
  override readonly name = 'JournalOvertaken'

  constructor(partition: number, after: number, epoch: number) {
    super(
      `partition ${partition} of the journal was to be taken from epoch ${after}, and is at ${epoch}`,
    )
  }
}

/** What was asked for is forgotten: only a base that holds it helps. */
export class JournalTrimmed extends Error {
  override readonly name = 'JournalTrimmed'

  constructor(partition: number, afterSeq: number, first: number) {
    super(
      `the journal of partition ${partition} begins with entry ${first}, and ${afterSeq + 1} was asked for`,
    )
  }
}

/** A chunk of what was to be published is not there: it was never put, or is forgotten. */
export class SnapshotIncomplete extends Error {
  override readonly name = 'SnapshotIncomplete'

  constructor({ seq, chunks }: NewSnapshot, there: number) {
    super(`the snapshot of entry ${seq} has ${chunks} chunks, and the journal ${there} of them`)
  }
}

/** One of a later entry is there. */
export class SnapshotOvertaken extends Error {
  override readonly name = 'SnapshotOvertaken'

  constructor({ seq }: NewSnapshot, newest: number) {
    super(`the snapshot of entry ${seq} comes after one of entry ${newest}`)
  }
}

/** What was asked for is not there; another snapshot may be. */
export class SnapshotGone extends Error {
  override readonly name = 'SnapshotGone'

  constructor(id: string, index: number) {
    super(`the journal has no chunk ${index} of a snapshot ${id}`)
  }
}

/** @throws JournalMisuse */
export function checkBody(body: Uint8Array): void {
  if (body.length > 0 && body.length <= BODY_BYTES_MAX) return
  throw new JournalMisuse(`an entry has 1 to ${BODY_BYTES_MAX} bytes, and this one ${body.length}`)
}

/** @throws JournalMisuse */
export function checkClaim(claim: string): void {
  if (claim.length > 0 && claim.length <= CLAIM_CHARS_MAX) return
  throw new JournalMisuse(`a claim has 1 to ${CLAIM_CHARS_MAX} characters`)
}
