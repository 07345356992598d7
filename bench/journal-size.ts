import { type Journal, TAIL_COUNTED_MAX } from '../src/journal/journal.js'

/** The amount appended to a journal. */
export interface JournalSize {
  readonly entries: number
  readonly bytes: number
}

/**
 * The total of some of its partitions.
 * @throws Error if there are more entries than an engine counts
 */
export async function journalSize(
  journal: Journal | null,
  partitions: readonly number[],
): Promise<JournalSize> {
  const sum = { entries: 0, bytes: 0 }
  if (journal?.snapshots === undefined) return sum
  for (const partition of partitions) {
    const { seq } = await journal.readHead(partition)
    if (seq > TAIL_COUNTED_MAX) throw new Error('the journal has too many entries: fewer rounds')
    const { tailBytes } = await journal.snapshots.readHead(partition)
    sum.entries += seq
    sum.bytes += tailBytes
  }
  return sum
}

/** The growth between two readings. */
export function grownBy(before: JournalSize, after: JournalSize): JournalSize {
  return { entries: after.entries - before.entries, bytes: after.bytes - before.bytes }
}
