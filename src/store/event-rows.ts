import type { NewEvent, StoredEvent } from '../domain/event.js'
import type { UserId } from '../domain/ids.js'
import { encodeEvents } from './encodings/event.js'
import { packedRecord } from './encodings/sealing.js'
import { eventIdAt } from './event-id.js'
import { putOf, type Row } from './rows.js'

/** Some kilobytes: more would be read for one event, fewer cost a record more often. */
const EVENTS_PER_RECORD_MAX = 64

/** Events of a batch, with their places in the log. */
export interface PlacedEvents {
  /** In the order in which they were appended. */
  readonly stored: readonly StoredEvent[]
  /** Under these names of `meta`: how far the log is filled with them. */
  readonly marks: readonly LogMark[]
}

export interface LogMark {
  readonly name: string
  readonly seq: number
}

/** Of a batch that appends none. */
export const NO_EVENTS: PlacedEvents = { stored: [], marks: [] }

/** The event with its place in the log, and named by it where it has no name yet. */
export function placed(event: NewEvent, seq: number): StoredEvent {
  const { eventId, userId, type, atMs, subWalletId, laneKey, data, moment } = event
  const named = eventId ?? eventIdAt(seq, atMs)
  // Two literals: a spread would give each event a hidden class of its own.
  return moment === undefined
    ? { eventId: named, userId, type, atMs, subWalletId, laneKey, data, seq }
    : { eventId: named, userId, type, atMs, subWalletId, laneKey, data, moment, seq }
}

/** @param placed `events` with their places */
export function addEvents(
  rows: Row[],
  events: readonly NewEvent[],
  { stored, marks }: PlacedEvents,
): void {
  for (const [index, { eventId, seq }] of stored.entries()) {
    const isNamed = events[index]?.eventId !== null
    if (isNamed) rows.push(putOf('eventsById', eventId, packedRecord(seq)))
  }
  for (const block of blocksOf(stored)) {
    const { userId, seq } = block.at(-1) as StoredEvent
    rows.push(putOf('userEvents', [userId, seq], encodeEvents(block)))
  }
  for (const { name, seq } of marks) rows.push(putOf('meta', name, packedRecord(seq)))
}

/** In order of their places, so that no two blocks of a user overlap. */
function blocksOf(events: readonly StoredEvent[]): StoredEvent[][] {
  const blocks: StoredEvent[][] = []
  const unfilled = new Map<UserId, StoredEvent[]>()
  for (const event of events) {
    const block = unfilled.get(event.userId)
    if (block !== undefined && block.length < EVENTS_PER_RECORD_MAX) block.push(event)
    else {
      const next = [event]
      unfilled.set(event.userId, next)
      blocks.push(next)
    }
  }
  return blocks
}
