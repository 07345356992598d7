import type { Deliverer } from './deliver.js'

/**
 * Discards the outcome of an attempt that fails while the service is shutting down: its connections
 * are closed, and the attempt would count as unanswered, so that later events could go ahead of it.
 * The next start makes the attempt again, in its place.
 */
export function untilEnding(deliverer: Deliverer, isEnding: () => boolean): Deliverer {
  return {
    async deliver(target, event) {
      const outcome = await deliverer.deliver(target, event)
      return isEnding() && outcome.kind === 'retry' ? new Promise(() => undefined) : outcome
    },
  }
}
