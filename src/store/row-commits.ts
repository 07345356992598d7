import type { Commits } from './commits.js'
import type { Environment } from './environment.js'
import { NO_EVENTS } from './event-rows.js'
import type { EventSequence } from './event-sequence.js'
import { type DrawEntropy, drawEntropy } from './new-id.js'
import { queueOfRows } from './row-queue.js'
import type { Row } from './rows.js'

/**
 * Commits batches as rows, for one thread. `apply` may write some rows before it fails, so
 * everything that can fail here is done before it is called.
 * @param apply writes all of the rows or none; once it resolves, this process's LMDB has them
 * @param draw draws the random part of ids that are created at the commit
 */
export function rowCommits(
  environment: Environment,
  sequence: EventSequence,
  apply: (rows: readonly Row[]) => Promise<void>,
  draw: DrawEntropy = drawEntropy,
): Commits {
  const { recordVersions, writtenBodies } = environment
  const queue = queueOfRows(apply)
  return {
    async commit(batch) {
      let placed = NO_EVENTS
      let isQueued = false
      try {
        if (batch.events.length > 0) placed = sequence.place(batch.events)
        const rows = batch.rows(environment, placed, draw)
        isQueued = true
        await queue(rows)
        return placed.stored
      } catch (error) {
        writtenBodies.forgetAll()
        if (!isQueued) sequence.giveBack(placed)
        throw error
      } finally {
        // Versions are raised before the events become visible, so a reader of an event finds its
        // transaction in the state that the event tells.
        batch.countUp(recordVersions)
        if (isQueued) sequence.settle(placed)
      }
    },
  }
}
