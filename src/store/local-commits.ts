import type { Commits } from './commits.js'
import type { Environment } from './environment.js'
import { NO_EVENTS } from './event-rows.js'
import type { EventSequence } from './event-sequence.js'
import { type DrawEntropy, drawEntropy } from './new-id.js'
import { queueOfRows } from './row-queue.js'
import { applyRows } from './rows.js'

/**
 * Commits to the LMDB of this process, for one thread. LMDB takes each put as it is made, and takes
 * none back: so all that can fail is done before the first.
 * @param draw for the ids of what is named when it is committed
 */
export function localCommits(
  environment: Environment,
  sequence: EventSequence,
  draw: DrawEntropy = drawEntropy,
): Commits {
  const { recordVersions, writtenBodies } = environment
  const queue = queueOfRows((rows) => applyRows(environment, rows))
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
