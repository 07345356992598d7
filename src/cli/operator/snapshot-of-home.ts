import { join } from 'node:path'
import { systemTimers } from '../../clock/timers.js'
import { JOURNAL_TAIL_MIB } from '../../config/env.js'
import type { Journal } from '../../journal/journal.js'
import { openBesideService } from '../../store/environment.js'
import { journalPositionOf } from '../../store/journal-position.js'
import { makeSnapshot } from '../../store/snapshots/make-snapshot.js'
import { marginOf, tidy } from '../../store/snapshots/tidy.js'
import { UsageError } from '../exit-codes.js'

/** The margin of the usual tail; a service with a shorter one trims further by itself. */
export const MARGIN_ENTRIES = marginOf(JOURNAL_TAIL_MIB * 1024 * 1024)

/**
 * Puts a snapshot of a home's store into its journal and trims the journal. The service may run.
 * @throws UsageError when another node leads, or the journal keeps no snapshots
 */
export async function snapshotOfHome(home: string, journal: Journal, partition: number) {
  const { snapshots } = journal
  if (snapshots === undefined) throw new UsageError('the engine of the journal keeps no snapshots')
  const environment = openBesideService(join(home, 'service', 'store'))
  try {
    const epoch = journalPositionOf(environment)?.epoch
    if (epoch === undefined) throw new UsageError(`the store of ${home} has no journal`)
    const options = { snapshots, partition, timers: systemTimers() }
    const made = await makeSnapshot({ ...options, environment })
    if (made.kind === 'fenced') {
      throw new UsageError(
        `the service of ${home} is not the leader of the journal, which is at epoch ${made.epoch}: run this in the leader's home`,
      )
    }
    if (made.kind !== 'made')
      throw new Error('the service made another snapshot at the same time: run this again')
    await tidy({ ...options, journal, epoch, marginEntries: MARGIN_ENTRIES })
    return { ...made, first: (await journal.readHead(partition)).first }
  } finally {
    await environment.root.close()
  }
}
