import type { NewEvent, StoredEvent } from '../domain/event.js'
import type { UserId } from '../domain/ids.js'
import { encodeEvents } from './encodings/event.js'
import { packedRecord } from './encodings/sealing.js'
import { eventIdAt } from './event-id.js'
import type { DrawEntropy } from './new-id.js'
import { lastSeqKey } from './readers/events.js'
import { putOf, type Row } from './rows.js'

/**
 * Limits a record to some kilobytes: with more, too much would be read for one event; with fewer,
 * there would be more records.
 */
const EVENTS_PER_RECORD_MAX = 64

/** A batch's events with their places in the log. */
export interface PlacedEvents {
  /** In the order in which they were appended. */
  readonly stored: readonly StoredEvent[]
  /** The places, as consecutive runs. */
  readonly runs: readonly PartitionRun[]
}

/** Consecutive places in a partition. */
export interface PartitionRun {
  readonly partition: number
  readonly first: number
  readonly count: number
}

/** The result for a batch without events. */
export const NO_EVENTS: PlacedEvents = { stored: [], runs: [] }

/** Returns the event with its place in the log, and with an id if it had none. */
export function placed(
  event: NewEvent,
  partition: number,
  seq: number,
  draw: DrawEntropy,
): StoredEvent {
  const { eventId, userId, type, atMs, subWalletId, laneKey, data, moment } = event
  const named = eventId ?? eventIdAt(partition, seq, atMs, draw)
  // Two literals, because a spread would give each event a separate hidden class.
  return moment === undefined
    ? { eventId: named, userId, type, atMs, subWalletId, laneKey, data, seq }
    : { eventId: named, userId, type, atMs, subWalletId, laneKey, data, moment, seq }
}

/** @param placed `events` with their places */
export function addEvents(
  rows: Row[],
  events: readonly NewEvent[],
  { stored, runs }: PlacedEvents,
): void {
  for (const [index, { eventId, seq }] of stored.entries()) {
    const isNamed = events[index]?.eventId !== null
    if (isNamed) rows.push(putOf('eventsById', eventId, packedRecord(seq)))
  }
  for (const block of blocksOf(stored)) {
    const { userId, seq } = block.at(-1) as StoredEvent
    rows.push(putOf('userEvents', [userId, seq], encodeEvents(block)))
  }
  for (const { partition, first, count } of runs) {
    rows.push(putOf('meta', lastSeqKey(partition), packedRecord(first + count - 1)))
  }
}

/** Groups events in the order of their places, so that no two blocks of a user overlap. */
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
