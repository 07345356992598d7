import type { EndpointEvent } from './events.js'

/** Unsaved progress of an endpoint is written no later than this. */
export const CHECKPOINT_MS = 100

/**
 * Whether an event is progress that need not be durable before the next attempt starts: an older
 * state and the log lead to the same deliveries again. A lane therefore does not wait for the disk
 * between two events, and a crash repeats what was delivered since the last checkpoint; consumers
 * recognise repetitions by their id. Failures are not repeatable: a retry's place in its schedule
 * must not be lost.
 */
export function isRepeatable(event: EndpointEvent): boolean {
  switch (event.type) {
    case 'attempt-started':
    case 'log-taken':
    case 'feed-requested':
      return true
    case 'attempt-finished':
      return event.result === 'delivered'
    default:
      return false
  }
}
