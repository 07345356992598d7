import {
  type EndpointState,
  FIRST_ATTEMPTS_IN_FLIGHT_MAX,
  IN_FLIGHT_MAX,
  type PendingDelivery,
  RETRIES_IN_FLIGHT_MAX,
} from './state.js'

/**
 * The deliveries to start now.
 *
 * The order rule: an event is tried for the first time only when every earlier event of its lane
 * has been delivered or given up, or has failed at least once. So a lane whose receiver answers
 * gets its events in order, one at a time, and a failing lane does not hold back later events.
 * Retries and deliveries that a person requested wait only for time and slots.
 */
export function startable(state: EndpointState, nowMs: number): PendingDelivery[] {
  if (state.disabledBecause !== null) return []
  let firstAttempts = countInPhase(state, 'first-attempt')
  let retries = countInPhase(state, 'retrying')
  const heldLanes = new Set<string>()
  const starting: PendingDelivery[] = []
  for (const delivery of state.pending) {
    const { laneKey, phase } = delivery
    const laneFree = laneKey === null || !heldLanes.has(laneKey)
    if (laneKey !== null && (phase === 'queued' || phase === 'first-attempt')) {
      heldLanes.add(laneKey)
    }
    if (firstAttempts + retries >= IN_FLIGHT_MAX) continue
    if (phase === 'queued' && laneFree && firstAttempts < FIRST_ATTEMPTS_IN_FLIGHT_MAX) {
      firstAttempts++
      starting.push(delivery)
    } else if (
      phase === 'waiting' &&
      delivery.nextTryAtMs <= nowMs &&
      retries < RETRIES_IN_FLIGHT_MAX
    ) {
      retries++
      starting.push(delivery)
    }
  }
  return starting
}

function countInPhase(state: EndpointState, phase: PendingDelivery['phase']): number {
  return state.pending.reduce((count, delivery) => count + (delivery.phase === phase ? 1 : 0), 0)
}
