import type { EventId } from '../../src/domain/ids.js'
import type { EndpointState, PendingDelivery } from './core/state.js'

/**
 * The stored form of the state. It is written whole at each attempt and consists mostly of
 * deliveries that wait for their first attempt, so each of those is three fields without names.
 */
export type StoredState = Omit<EndpointState, 'pending'> & {
  readonly pending: readonly StoredDelivery[]
}

type StoredDelivery =
  | readonly [eventId: EventId, seq: number, laneKey: string | null]
  | PendingDelivery

export function toStored(state: EndpointState): StoredState {
  return { ...state, pending: state.pending.map(shorten) }
}

export function fromStored(stored: StoredState): EndpointState {
  return { ...stored, pending: stored.pending.map(restore) }
}

function shorten(delivery: PendingDelivery): StoredDelivery {
  const { eventId, seq, laneKey, phase } = delivery
  return phase === 'queued' && delivery.failures === 0 ? [eventId, seq, laneKey] : delivery
}

function restore(stored: StoredDelivery): PendingDelivery {
  if (!isShort(stored)) return stored
  const [eventId, seq, laneKey] = stored
  return { eventId, seq, laneKey, phase: 'queued', failures: 0, nextTryAtMs: 0, attemptId: 0 }
}

function isShort(stored: StoredDelivery): stored is Extract<StoredDelivery, readonly unknown[]> {
  return Array.isArray(stored)
}
