import type { StoredEvent } from '../../src/domain/event.js'
import type { UserId } from '../../src/domain/ids.js'
import { QUOTAS_MAX } from '../../src/domain/quotas.js'
import type { Reader } from '../../src/store/reader.js'
import type { EventNeeds } from '../../src/store/retention/step.js'
import { wantsEvent } from '../webhook-endpoint/core/state.js'
import { fromStored, type StoredState } from '../webhook-endpoint/stored-state.js'

/**
 * The events that webhooks still have to deliver, according to their stored state. The stored state
 * is never ahead of the deliveries, so this keeps too much rather than too little. A disabled
 * endpoint continues where it stopped, so its events are kept as well.
 */
export function createEventNeeds(reader: Reader): EventNeeds {
  const needsAll = () => true
  // An endpoint that cannot be read may need every event.
  return (user) => reader.ifSound(() => needsOf(user)) ?? needsAll

  function needsOf(user: UserId): ReturnType<EventNeeds> {
    const endpoints = reader.webhooks.ofUser(user, { limit: QUOTAS_MAX.webhooks, cursor: null })
    const states = endpoints.items.flatMap(({ webhookId }) => {
      const stored = reader.deliveries.stateOf<StoredState>(webhookId)
      if (stored === undefined) return []
      const state = fromStored(stored)
      return [{ state, pending: new Set(state.pending.map(({ eventId }) => eventId)) }]
    })
    return (event: StoredEvent) =>
      states.some(
        ({ state, pending }) =>
          pending.has(event.eventId) || (event.seq > state.cursor && wantsEvent(state, event.type)),
      )
  }
}
