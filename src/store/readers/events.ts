import type { StoredEvent } from '../../domain/event.js'
import type { EventId, UserId } from '../../domain/ids.js'
import { PARTITION_COUNT } from '../../domain/partition.js'
import { decodeEvents } from '../encodings/event.js'
import type { Environment } from '../environment.js'
import { seqIn } from '../event-id.js'

const LAST_SEQ = 'last_event_seq:'

/** The key in `meta` of the last place in a partition's log. */
export function lastSeqKey(partition: number): string {
  return `${LAST_SEQ}${partition}`
}

/** Sorts after every number. */
const AFTER_ALL = '~'

/** Events of one user and one commit, by place. A block never changes once it is written. */
interface Block {
  readonly user: UserId
  readonly events: readonly StoredEvent[]
}

/**
 * Reads the event log of a user, oldest first. A commit's places in a partition are consecutive, so
 * blocks never overlap, and an event is in the first block that ends at its place or later.
 */
export interface EventReader {
  bySeq(user: UserId, seq: number): StoredEvent | undefined
  byId(user: UserId, id: EventId): StoredEvent | undefined
  /** The last place that was removed from the beginning of the user's log; 0 if none was. */
  logStart(user: UserId): number
  /**
   * A place at or before every event of the user since `atMs`, except within one commit. Hosts set
   * the times of events, so they are in order to some milliseconds.
   */
  placeBefore(user: UserId, atMs: number, readableSeq: number): number
  /** The last place of each partition; 0 if it has no event. */
  lastSeqs(): readonly number[]
  /** Events of one user after `afterSeq`, oldest first, up to and including `readableSeq`. */
  ofUser(user: UserId, afterSeq: number, readableSeq: number): Generator<StoredEvent>
}

export function createEventReader({ spaces }: Pick<Environment, 'spaces'>): EventReader {
  let kept: Block | null = null

  function bySeq(user: UserId, seq: number): StoredEvent | undefined {
    // Deliveries read one event after another, and so the events of a block consecutively.
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
