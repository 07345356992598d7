import { applyRows } from './apply-rows.js'
import type { Commits } from './commits.js'
import type { Environment } from './environment.js'
import type { EventSequence } from './event-sequence.js'
import type { DrawEntropy } from './new-id.js'
import { rowCommits } from './row-commits.js'

/**
 * Commits to the LMDB of this process, for one thread. LMDB takes each write as it is made, and
 * takes none back.
 * @param draw draws the random part of ids that are created at the commit
 */
export function localCommits(
  environment: Environment,
  sequence: EventSequence,
  draw?: DrawEntropy,
): Commits {
  return rowCommits(environment, sequence, (rows) => applyRows(environment, rows), draw)
}
