import { sleep, type Timers } from '../../clock/timers.js'
import type { Journal, Snapshots } from '../../journal/journal.js'

/**
 * A margin of one entry for each of these bytes of the tail that is followed at most: with the usual
 * tail 16,384 entries, some minutes of a busy service.
 */
const MARGIN_BYTES = 16 * 1024

/**
 * Entries that a snapshot has as well and are kept all the same, for whoever follows a little behind
 * or was away for a moment. At least one: a store knows its journal again by the entry that it had last.
 * @param tailBytesMax with how many bytes of entries after a snapshot the next is made
 */
export function marginOf(tailBytesMax: number): number {
  return Math.max(1, Math.floor(tailBytesMax / MARGIN_BYTES))
}

/** Entries that one call forgets: appends wait for it. */
const TRIMMED_AT_ONCE = 1_000
const TRIM_REST_MS = 20

export interface TidyOptions {
  readonly journal: Pick<Journal, 'look' | 'trim'>
  readonly snapshots: Snapshots
  readonly partition: number
  /** With which the caller owns the journal, or did. */
  readonly epoch: number
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly stopping?: AbortSignal
  readonly marginEntries: number
}

/**
 * Forgets what the snapshot that is there makes unneeded, a little at a time: entries below it but for
 * a margin, and chunks of others. May be done over again. Of an owner that is none any more it forgets
 * nothing that is needed.
 */
export async function tidy(options: TidyOptions): Promise<void> {
  const { journal, snapshots, partition, epoch, timers, stopping, marginEntries } = options
  const { newest } = await snapshots.look(partition)
  const end = newest === null ? 0 : newest.seq + 1 - Math.max(1, marginEntries)
  let { first } = await journal.look(partition)
  while (first < end && stopping?.aborted !== true) {
    first = Math.min(end, first + TRIMMED_AT_ONCE)
    await journal.trim(partition, first)
    await sleep(timers, TRIM_REST_MS)
  }
  while ((await snapshots.sweep(partition, epoch)) > 0 && stopping?.aborted !== true) {
    await sleep(timers, TRIM_REST_MS)
  }
}
