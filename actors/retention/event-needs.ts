import type { StoredEvent } from '../../src/domain/event.js'
import type { UserId } from '../../src/domain/ids.js'
import { QUOTAS_MAX } from '../../src/domain/quotas.js'
import type { Reader } from '../../src/store/reader.js'
import type { EventNeeds } from '../../src/store/retention/step.js'
import { wantsEvent } from '../webhook-endpoint/core/state.js'
import { fromStored, type StoredState } from '../webhook-endpoint/stored-state.js'

/**
 * What webhooks have still to deliver, by their stored state: that is never ahead of what they did,
 * so it asks for too much and not for too little. One that is disabled goes on where it stopped,
 * and is waited for like any other.
 */
export function createEventNeeds(reader: Reader): EventNeeds {
  const needsAll = () => true
  // What cannot be read may need everything.
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
