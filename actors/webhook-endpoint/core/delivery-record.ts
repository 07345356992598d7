import type { EventId } from '../../../src/domain/ids.js'
import type { EndpointEvent } from './events.js'

/**
 * The history of one event at one endpoint, as the console lists it: a read model next to the
 * actor's state, folded from the same events.
 */
export interface DeliveryRecord {
  readonly eventId: EventId
  readonly seq: number
  readonly status: 'pending' | 'delivered' | 'exhausted' | 'gone'
  /** All attempts ever made, interrupted ones included. */
  readonly attemptCount: number
  /** The latest attempts, oldest first; at most ATTEMPTS_KEPT_MAX. */
  readonly attempts: readonly AttemptRecord[]
  /** Milliseconds since the Unix epoch; null unless a retry is planned. */
  readonly nextTryAtMs: number | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

interface AttemptRecord {
  readonly atMs: number
  readonly status: number | null
  readonly error: string | null
  readonly durationMs: number
}

/** A whole schedule: the first attempt, its eight retries and one spare. */
export const ATTEMPTS_KEPT_MAX = 10

/** The events whose records an event of the actor changes. */
export function recordsTouched(event: EndpointEvent): readonly EventId[] {
  switch (event.type) {
    case 'log-taken':
      return event.queued.map(({ eventId }) => eventId)
    case 'attempts-interrupted':
      return event.eventIds
    case 'delivery-requested':
    case 'delivery-hastened':
    case 'attempt-started':
    case 'attempt-finished':
      return [event.eventId]
    default:
      return []
  }
}

/**
 * Folds an event into the record of one of the events that it touches.
 * @param record null when the event was never delivered to this endpoint
 */
export function evolveRecord(
  record: DeliveryRecord | null,
  eventId: EventId,
  event: EndpointEvent,
): DeliveryRecord | null {
  if (event.type === 'log-taken') {
    const queued = event.queued.find((candidate) => candidate.eventId === eventId)
    return record ?? (queued === undefined ? null : begin(eventId, queued.seq, event.atMs))
  }
  if (event.type === 'delivery-requested') {
    const begun = record ?? begin(eventId, event.seq, event.atMs)
    return { ...begun, status: 'pending', nextTryAtMs: event.atMs, updatedAtMs: event.atMs }
  }
  if (record === null) return null
  const updatedAtMs = event.atMs
  switch (event.type) {
    case 'delivery-hastened':
    case 'attempts-interrupted':
      return { ...record, nextTryAtMs: event.atMs, updatedAtMs }
    case 'attempt-started':
      return { ...record, attemptCount: record.attemptCount + 1, nextTryAtMs: null, updatedAtMs }
    case 'attempt-finished': {
      const { atMs, status, error, durationMs, nextTryAtMs, result } = event
      const attempts = [...record.attempts, { atMs, status, error, durationMs }]
      return {
        ...record,
        status: result === 'retry' ? 'pending' : result,
        attempts: attempts.slice(-ATTEMPTS_KEPT_MAX),
        nextTryAtMs,
        updatedAtMs,
      }
    }
    default:
      return record
  }
}

function begin(eventId: EventId, seq: number, atMs: number): DeliveryRecord {
  return {
    eventId,
    seq,
    status: 'pending',
    attemptCount: 0,
    attempts: [],
    nextTryAtMs: null,
    createdAtMs: atMs,
    updatedAtMs: atMs,
  }
}
