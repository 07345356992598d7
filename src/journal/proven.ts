import type { Journal } from './journal.js'

/** Below the first place, so it removes nothing. */
const NOTHING = 0

/**
 * Runs a write fence probe: a commit that changes nothing. A former primary of Postgres that is
 * back without knowing its successor serves outdated reads, but commits nothing, since it waits for
 * a standby that it no longer has. After the failed probe the next server is used.
 * @throws JournalUnavailable if the server commits nothing
 */
export function prove(journal: Pick<Journal, 'trim'>, partition: number): Promise<void> {
  return journal.trim(partition, NOTHING)
}

/**
 * Confirms an error about something that the journal lacks. Only a server that commits is believed.
 * @returns the error, for the caller to throw
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
