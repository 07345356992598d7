import type { Journal } from './journal.js'

/** Below the first place there is: forgets nothing. */
const NOTHING = 0

/**
 * Asks for a commit. A former primary of Postgres that is back and knows of no successor reads out what it had
 * then, and commits nothing, since it waits for a standby that it has no more: the next server is asked from
 * then on.
 * @throws JournalUnavailable where it commits nothing
 */
export function prove(journal: Pick<Journal, 'trim'>, partition: number): Promise<void> {
  return journal.trim(partition, NOTHING)
}

/**
 * What a journal lacks is believed only of a server that commits.
 * @returns the error, to be thrown
 * @throws as `prove`
 */
export async function proven<E extends Error>(
  journal: Pick<Journal, 'trim'>,
  partition: number,
  error: E,
): Promise<E> {
  await prove(journal, partition)
  return error
}
