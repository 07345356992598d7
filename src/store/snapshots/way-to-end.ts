import type { Journal } from '../../journal/journal.js'
import { isHalfRestored } from '../environment.js'
import { checkBelongs, StoreTooFarBehind } from '../follow-journal.js'
import { isEmptyStore, journalPositionOf } from '../journal-position.js'
import { findRestorable, type RestoreOptions } from './restore-snapshot.js'

export type WayOptions = Omit<RestoreOptions, 'snapshots'> & {
  readonly journal: Pick<Journal, 'read' | 'trim' | 'snapshots'>
}

/**
 * How a store comes to the end of its journal: by the entries that it lacks, or first by the snapshot,
 * where it lacks some that are not kept any more, is empty or half restored. Changes neither.
 * @returns what `restoreSnapshot` is to be given; null: entries suffice
 * @throws Error where store and journal do not belong together, with what to do
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
      'the store is half restored, from a snapshot that its journal does not have any more: the file names another journal; or put back a copy of the store that goes with this one',
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
