import { LRUCache } from 'lru-cache'
import type { Timers } from '../../src/clock/timers.js'
import type { StoredEvent } from '../../src/domain/event.js'
import { DEFAULT_EVENT_TYPES, type EventType } from '../../src/domain/event-types.js'
import type { UserId } from '../../src/domain/ids.js'
import { QUOTAS_MAX } from '../../src/domain/quotas.js'
import type { WebhookEndpoint } from '../../src/domain/webhook.js'
import type { EventSequence } from '../../src/store/event-sequence.js'
import type { Reader } from '../../src/store/reader.js'
import type { Envelope } from '../runtime/actor.js'

/** The most users whose endpoints stay in memory: every commit may have something to announce. */
const USERS_MAX = 10_000

interface KnownEndpoints {
  readonly version: number
  readonly endpoints: readonly WebhookEndpoint[]
}

interface AnnouncePorts {
  readonly reader: Reader
  readonly sequence: EventSequence
  readonly tell: (envelope: Envelope) => void
  readonly timers: Pick<Timers, 'now'>
}

/**
 * Notifies endpoints of durable events of the types that they want. The notice only says that there
 * is something to read, so a lost or repeated one does no harm.
 */
export function createAnnouncer({ reader, sequence, tell, timers }: AnnouncePorts) {
  const known = new LRUCache<UserId, KnownEndpoints>({ max: USERS_MAX })

  function endpointsOf(userId: UserId): readonly WebhookEndpoint[] {
    const version = reader.webhooks.versionOf(userId)
    const kept = known.get(userId)
    if (kept?.version === version) return kept.endpoints
    const endpoints = reader.fresh().webhooks.soundOfUser(userId, QUOTAS_MAX.webhooks)
    known.set(userId, { version, endpoints })
    return endpoints
  }

  return function announce(events: readonly StoredEvent[]): void {
    for (const [userId, types] of typesByUser(events)) {
      // Only this thread commits the user's events, in order, so these are readable by now.
      const throughSeq = sequence.readable(userId)
      for (const { webhookId, events: filter } of endpointsOf(userId)) {
        if (!(filter ?? DEFAULT_EVENT_TYPES).some((type) => types.has(type))) continue
        const command = {
          type: 'events-appended',
          source: 'live',
          afterSeq: throughSeq,
          throughSeq,
          events: [],
          nowMs: timers.now(),
        }
        tell({ kind: 'webhook-endpoint', id: webhookId, userId, command, token: null })
      }
    }
  }
}

function typesByUser(events: readonly StoredEvent[]): Map<UserId, Set<EventType>> {
  const users = new Map<UserId, Set<EventType>>()
  for (const { userId, type } of events) {
    const types = users.get(userId) ?? new Set()
    users.set(userId, types.add(type))
  }
  return users
}
