import type { EventId } from '../../../src/domain/ids.js'
import type { AttemptFinishedEvent, EndpointEvent, QueuedEvent } from './events.js'
import type { EndpointState, PendingDelivery } from './state.js'

/**
 * Folds one event. Null is an endpoint that was never registered, or was removed.
 * @throws Error on an event that cannot follow this state: the store is damaged
 */
export function evolve(state: EndpointState | null, event: EndpointEvent): EndpointState | null {
  if (event.type === 'registered') {
    return {
      endpoint: event.endpoint,
      disabledBecause: event.endpoint.status === 'disabled' ? 'console' : null,
      cursor: event.cursor,
      // The log may have grown since its end was read for the cursor.
      behind: true,
      feed: 'idle',
      pending: [],
      attemptsStarted: 0,
    }
  }
  if (state === null) throw new Error(`${event.type} for an endpoint that is not registered`)
  switch (event.type) {
    case 'changed':
      return { ...state, endpoint: { ...state.endpoint, ...event.changes } }
    case 'enabled':
      return {
        ...state,
        endpoint: { ...state.endpoint, status: 'enabled' },
        disabledBecause: null,
        // Events logged in the meantime were not taken.
        behind: true,
      }
    case 'disabled':
      return {
        ...state,
        endpoint: { ...state.endpoint, status: 'disabled' },
        disabledBecause: event.because,
      }
    case 'removed':
      return null
    case 'secrets-set':
      return { ...state, endpoint: { ...state.endpoint, secrets: event.secrets } }
    case 'log-taken':
      return {
        ...state,
        cursor: event.cursor,
        behind: event.behind,
        feed: event.feed,
        pending: [...state.pending, ...event.queued.map(queue)],
      }
    case 'feed-requested':
      return { ...state, feed: 'requested' }
    case 'checkpointed':
      return state
    case 'delivery-requested':
      return { ...state, pending: [...state.pending, request(event)] }
    case 'delivery-hastened':
      return update(state, event.eventId, (delivery) => ({ ...delivery, nextTryAtMs: event.atMs }))
    case 'attempt-started':
      return {
        ...update(state, event.eventId, (delivery) => ({
          ...delivery,
          phase: delivery.phase === 'queued' ? 'first-attempt' : 'retrying',
          nextTryAtMs: 0,
          attemptId: event.attemptId,
        })),
        attemptsStarted: event.attemptId,
      }
    case 'attempt-finished':
      return finish(state, event)
    case 'attempts-interrupted':
      return {
        ...state,
        // After a restart, neither the answer to a feed nor the notices of appended events arrive.
        feed: 'idle',
        behind: true,
        pending: state.pending.map((delivery) =>
          event.eventIds.includes(delivery.eventId) ? interrupt(delivery, event.atMs) : delivery,
        ),
      }
  }
}

function queue({ eventId, seq, laneKey }: QueuedEvent): PendingDelivery {
  return { eventId, seq, laneKey, phase: 'queued', failures: 0, nextTryAtMs: 0, attemptId: 0 }
}

function request(event: { eventId: EventId; seq: number; atMs: number }): PendingDelivery {
  const queued = queue({ eventId: event.eventId, seq: event.seq, laneKey: null })
  return { ...queued, phase: 'waiting', nextTryAtMs: event.atMs }
}

function finish(state: EndpointState, event: AttemptFinishedEvent): EndpointState {
  const { nextTryAtMs } = event
  if (event.result !== 'retry' || nextTryAtMs === null) {
    return { ...state, pending: state.pending.filter(({ eventId }) => eventId !== event.eventId) }
  }
  return update(state, event.eventId, (delivery) => ({
    ...delivery,
    phase: 'waiting',
    failures: delivery.failures + 1,
    nextTryAtMs,
    attemptId: 0,
  }))
}

function interrupt(delivery: PendingDelivery, atMs: number): PendingDelivery {
  return delivery.phase === 'first-attempt'
    ? { ...delivery, phase: 'queued', attemptId: 0 }
    : { ...delivery, phase: 'waiting', nextTryAtMs: atMs, attemptId: 0 }
}

function update(
  state: EndpointState,
  eventId: EventId,
  change: (delivery: PendingDelivery) => PendingDelivery,
): EndpointState {
  return {
    ...state,
    pending: state.pending.map((delivery) =>
      delivery.eventId === eventId ? change(delivery) : delivery,
    ),
  }
}
