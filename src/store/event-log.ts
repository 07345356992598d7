import type { StoredEvent } from '../domain/event.js'
import type { EventId, UserId } from '../domain/ids.js'
import { decodeEvent } from './encodings/event.js'
import type { Environment } from './environment.js'
import { seqIn } from './event-id.js'

const LAST_SEQ = 'last_event_seq:'

/** In `meta`: where a thread says how far it has filled the log. Threads end in any order. */
export function lastSeqKey(thread: number | null): string {
  return `${LAST_SEQ}${String(thread)}`
}

/**
 * The event log as its readers see it: by user, oldest first. Up to schema 3 events lay in a space
 * of their own, with an index by user; they are read where they are, and all come before the rest.
 */
export function createEventReader({ spaces }: Pick<Environment, 'spaces'>) {
  /** Of the old space, which is never written to again. */
  const lastOldSeq = lastSeqOf(spaces.events.getKeys({ reverse: true, limit: 1 }))

  function event(user: UserId, seq: number): StoredEvent | undefined {
    if (seq <= lastOldSeq) {
      const old = spaces.events.get(seq) as StoredEvent | undefined
      return old?.userId === user ? old : undefined
    }
    const stored = spaces.userEvents.get([user, seq])
    return stored === undefined ? undefined : decodeEvent(stored, user, seq)
  }

  return {
    event,
    eventById(user: UserId, id: EventId): StoredEvent | undefined {
      const place = seqIn(id)
      const there = place === null ? undefined : event(user, place)
      if (there?.eventId === id) return there
      const seq = spaces.eventsById.get(id) as number | undefined
      return seq === undefined ? undefined : event(user, seq)
    },
    lastEventSeq(): number {
      const marks = spaces.meta.getRange({ start: LAST_SEQ, end: `${LAST_SEQ}~` })
      return Math.max(lastOldSeq, ...[...marks].map(({ value }) => Number(value)))
    },
    /** Events of one user after `afterSeq`, oldest first, up to and including `readableSeq`. */
    *eventsOfUser(user: UserId, afterSeq: number, readableSeq: number): Generator<StoredEvent> {
      // An object each: lmdb notes in it what it was used for.
      const range = () => ({
        start: [user, afterSeq],
        end: [user, readableSeq + 1],
        exclusiveStart: true,
      })
      if (afterSeq < lastOldSeq) {
        for (const key of spaces.eventsByUser.getKeys(range())) {
          const found = event(user, (key as unknown as [string, number])[1])
          if (found !== undefined) yield found
        }
      }
      for (const { key, value } of spaces.userEvents.getRange(range())) {
        yield decodeEvent(value, user, (key as unknown as [string, number])[1])
      }
    },
  }
}

function lastSeqOf(keys: Iterable<unknown>): number {
  for (const key of keys) return Number(key)
  return 0
}
