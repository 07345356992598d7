import type { NewEvent } from '../domain/event.js'
import type { Commits } from './commits.js'
import type { Environment } from './environment.js'
import { lastSeqKey } from './event-log.js'
import { NO_EVENTS, type PlacedEvents, placed } from './event-rows.js'
import type { EventSequence } from './event-sequence.js'
import { applyRows } from './rows.js'

/**
 * Commits to the LMDB of this process, for one thread. LMDB takes each put as it is made, and takes
 * none back: so all that can fail is done before the first.
 */
export function localCommits(environment: Environment, sequence: EventSequence): Commits {
  const { recordVersions, knownBodies } = environment
  /** First event places of commits under way. */
  const pending = new Set<number>()

  return {
    async commit(batch) {
      const { events } = batch
      const first = events.length === 0 ? null : sequence.take(events.length)
      if (first !== null) pending.add(first)
      let isQueued = false
      try {
        const places = first === null ? NO_EVENTS : placedFrom(first, events, sequence)
        const rows = batch.rows(environment, places)
        isQueued = true
        await applyRows(environment, rows)
        return places.stored
      } catch (error) {
        knownBodies.forgetAll()
        if (first !== null && !isQueued) sequence.giveBack(first, events.length)
        throw error
      } finally {
        // Before the events can be seen: whoever reads one then finds its transaction as it says.
        batch.countUp(recordVersions)
        if (first !== null) {
          pending.delete(first)
          sequence.settled(pending.size === 0 ? null : Math.min(...pending))
        }
      }
    },
  }
}

function placedFrom(
  first: number,
  events: readonly NewEvent[],
  { thread }: EventSequence,
): PlacedEvents {
  const stored = events.map((event, index) => placed(event, first + index))
  return { stored, marks: [{ name: lastSeqKey(thread), seq: first + events.length - 1 }] }
}
