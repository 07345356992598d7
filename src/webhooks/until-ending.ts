import type { Deliverer } from './deliver.js'

/**
 * Of an attempt that fails while the service ends nothing is said: its connections are closed under it, and it
 * would count as one that the endpoint did not answer, behind which later events go ahead. The next start makes
 * it again, in its place.
 */
export function untilEnding(deliverer: Deliverer, isEnding: () => boolean): Deliverer {
  return {
    async deliver(target, event) {
      const outcome = await deliverer.deliver(target, event)
      return isEnding() && outcome.kind === 'retry' ? new Promise(() => undefined) : outcome
    },
  }
}
