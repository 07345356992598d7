import { sleep, type Timers } from '../../clock/timers.js'
import type { Journal, Snapshots } from '../../journal/journal.js'

/**
 * The margin is one entry for each of these bytes of the longest tail: 16,384 entries with the
 * usual tail, some minutes of a busy service.
 */
const MARGIN_BYTES = 16 * 1024

/**
 * Entries that a snapshot contains but that are kept, for nodes that follow a little behind or were
 * away for a moment. At least one, because a store recognizes its journal by the entry that it had
 * last.
 * @param tailBytesMax the bytes of entries after a snapshot at which the next is made
 */
export function marginOf(tailBytesMax: number): number {
  return Math.max(1, Math.floor(tailBytesMax / MARGIN_BYTES))
}

/** Entries that one call trims; appends wait for it. */
const TRIMMED_AT_ONCE = 1_000
const TRIM_REST_MS = 20

interface TidyOptions {
  readonly journal: Pick<Journal, 'readHead' | 'trim'>
  readonly snapshots: Snapshots
  readonly partition: number
  /** The epoch in which the caller leads the journal, or led it. */
  readonly epoch: number
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly stopping?: AbortSignal
  readonly marginEntries: number
}

/**
 * Removes what the current snapshot makes unneeded, a little at a time: entries before it except
 * for a margin, and chunks of other snapshots. It may be repeated. A former leader removes nothing
 * that is still needed.
 */
export async function tidy(options: TidyOptions): Promise<void> {
  const { journal, snapshots, partition, epoch, timers, stopping, marginEntries } = options
  const { newest } = await snapshots.readHead(partition)
  const end = newest === null ? 0 : newest.seq + 1 - Math.max(1, marginEntries)
  let { first } = await journal.readHead(partition)
  while (first < end && stopping?.aborted !== true) {
    first = Math.min(end, first + TRIMMED_AT_ONCE)
    await journal.trim(partition, first)
    await sleep(timers, TRIM_REST_MS)
  }
  while ((await snapshots.sweep(partition, epoch)) > 0 && stopping?.aborted !== true) {
    await sleep(timers, TRIM_REST_MS)
  }
}
