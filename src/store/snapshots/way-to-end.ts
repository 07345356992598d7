import type { Journal } from '../../journal/journal.js'
import { isHalfRestored } from '../environment.js'
import { checkBelongs, StoreTooFarBehind } from '../follow-journal.js'
import { isEmptyStore, journalPositionOf } from '../journal-position.js'
import { findRestorable, type RestoreOptions } from './restore-snapshot.js'

type WayOptions = Omit<RestoreOptions, 'snapshots'> & {
  readonly journal: Pick<Journal, 'read' | 'trim' | 'snapshots'>
}

/**
 * Decides how a store reaches the end of its journal: by the entries that it lacks, or first from
 * the snapshot, if some entries were trimmed or the store is empty or half restored. Changes
 * neither.
 * @returns the options for `restoreSnapshot`; null if entries suffice
 * @throws Error if store and journal do not belong together, with what to do
 */
export async function wayToEnd(options: WayOptions): Promise<RestoreOptions | null> {
  const { environment, journal, partition } = options
  const { snapshots } = journal
  const position = journalPositionOf(environment)
  const restoring = snapshots === undefined ? null : { ...options, snapshots }
  const isRestorable = async () =>
    restoring !== null && (await findRestorable(restoring, position?.storeId ?? '')) !== null
  if (isHalfRestored(environment)) {
    if (await isRestorable()) return restoring
    throw new Error(
      'the store is half restored from a snapshot that this journal no longer has. Either the journal file names the wrong journal, or restore a copy of the store that matches it',
    )
  }
  if ((position?.seq ?? 0) === 0 && isEmptyStore(environment) && (await isRestorable())) {
    return restoring
  }
  try {
    await checkBelongs(environment, journal, partition)
    return null
  } catch (error) {
    if (!(error instanceof StoreTooFarBehind) || !(await isRestorable())) throw error
    return restoring
  }
}
