import type { StoredEvent } from '../../domain/event.js'
import type { EventId, UserId } from '../../domain/ids.js'
import { PARTITION_COUNT } from '../../domain/partition.js'
import { decodeEvents } from '../encodings/event.js'
import type { Environment } from '../environment.js'
import { seqIn } from '../event-id.js'

const LAST_SEQ = 'last_event_seq:'

/** In `meta`: how far a partition of users has filled the log. */
export function lastSeqKey(partition: number): string {
  return `${LAST_SEQ}${partition}`
}

/** Sorts after every number. */
const AFTER_ALL = '~'

/** Events of one user and one commit, by place. Never changed once they are there. */
interface Block {
  readonly user: UserId
  readonly events: readonly StoredEvent[]
}

/**
 * The event log as its readers see it: by user, oldest first. A commit's places of a partition
 * follow one another, so blocks never overlap, and an event is in the first block that ends at it
 * or after.
 */
export interface EventReader {
  bySeq(user: UserId, seq: number): StoredEvent | undefined
  byId(user: UserId, id: EventId): StoredEvent | undefined
  /** Place of the last event that was removed from the beginning of the user's log; 0: none was. */
  logStart(user: UserId): number
  /**
   * A place that no event of theirs since `atMs` is before, but for those of one commit. Times are
   * those of events, which hosts give, so they are in order to some milliseconds.
   */
  placeBefore(user: UserId, atMs: number, readableSeq: number): number
  /** By partition; 0 where there is no event yet. */
  lastSeqs(): readonly number[]
  /** Events of one user after `afterSeq`, oldest first, up to and including `readableSeq`. */
  ofUser(user: UserId, afterSeq: number, readableSeq: number): Generator<StoredEvent>
}

export function createEventReader({ spaces }: Pick<Environment, 'spaces'>): EventReader {
  let kept: Block | null = null

  function bySeq(user: UserId, seq: number): StoredEvent | undefined {
    // Deliveries ask for one event after another, so for those of one block in a row.
    const block = holds(kept, user, seq) ? kept : blockAt(user, seq)
    if (block === null) return undefined
    kept = block
    return block.events.find((one) => one.seq === seq)
  }

  function blockAt(user: UserId, seq: number): Block | null {
    const range = { start: [user, seq], end: [user, AFTER_ALL], limit: 1 }
    for (const { value } of spaces.userEvents.getRange(range)) {
      return { user, events: decodeEvents(value, user) }
    }
    return null
  }

  return {
    bySeq,
    byId(user, id) {
      const place = seqIn(id)
      const there = place === null ? undefined : bySeq(user, place)
      if (there?.eventId === id) return there
      const seq = spaces.eventsById.get(id) as number | undefined
      return seq === undefined ? undefined : bySeq(user, seq)
    },
    logStart: (user) => Number(spaces.retained.get([user, 'events']) ?? 0),
    placeBefore(user, atMs, readableSeq) {
      let low = Number(spaces.retained.get([user, 'events']) ?? 0)
      let high = readableSeq
      while (low < high) {
        const middle = low + Math.floor((high - low) / 2)
        const first = blockAt(user, middle + 1)?.events[0]
        if (first === undefined || first.atMs >= atMs) high = middle
        else low = Math.max(middle + 1, first.seq)
      }
      return Math.min(low, readableSeq)
    },
    lastSeqs: () =>
      Array.from({ length: PARTITION_COUNT }, (_, partition) =>
        Number(spaces.meta.get(lastSeqKey(partition)) ?? 0),
      ),
    *ofUser(user, afterSeq, readableSeq) {
      const blocks = { start: [user, afterSeq], end: [user, AFTER_ALL], exclusiveStart: true }
      for (const { value } of spaces.userEvents.getRange(blocks)) {
        for (const one of decodeEvents(value, user)) {
          if (one.seq > readableSeq) return
          if (one.seq > afterSeq) yield one
        }
      }
    },
  }
}

function holds(block: Block | null, user: UserId, seq: number): block is Block {
  if (block === null || block.user !== user) return false
  const { events } = block
  return seq >= (events[0]?.seq ?? Infinity) && seq <= (events.at(-1)?.seq ?? -Infinity)
}
