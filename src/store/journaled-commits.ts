import type { Commits } from './commits.js'
import type { Environment } from './environment.js'
import type { EventSequence } from './event-sequence.js'
import type { DrawEntropy } from './new-id.js'
import { rowCommits } from './row-commits.js'
import { encodeRows } from './rows-encoding.js'

/**
 * Commits to a journal first and then to the LMDB of this process, for one thread.
 * @param handOver passes rows to the one thread that writes the journal (`journal-writer.ts`);
 * resolves once both have them
 * @param draw draws the random part of ids that are created at the commit
 */
export function journaledCommits(
  environment: Environment,
  sequence: EventSequence,
  handOver: (rows: Uint8Array) => Promise<void>,
  draw?: DrawEntropy,
): Commits {
  return rowCommits(environment, sequence, (rows) => handOver(encodeRows(rows)), draw)
}
