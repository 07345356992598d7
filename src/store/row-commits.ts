import type { Commits } from './commits.js'
import type { Environment } from './environment.js'
import { NO_EVENTS } from './event-rows.js'
import type { EventSequence } from './event-sequence.js'
import { type DrawEntropy, drawEntropy } from './new-id.js'
import { queueOfRows } from './row-queue.js'
import type { Row } from './rows.js'

/**
 * Commits by their rows, for one thread. Whoever takes the rows may take some and then fail: so all
 * that can fail here is done before.
 * @param apply all of the rows or none, and in this process's LMDB once it resolves
 * @param draw for the ids of what is named when it is committed
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
        // Before the events can be seen: whoever reads one then finds its transaction as it says.
        batch.countUp(recordVersions)
        if (isQueued) sequence.settle(placed)
      }
    },
  }
}
