import type { StoredEvent } from '../../src/domain/event.js'
import { DEFAULT_EVENT_TYPES } from '../../src/domain/event-types.js'
import type { Reader } from '../../src/store/reader.js'
import type { KnownEndpoint } from './endpoints.js'
import type { Reception } from './receivers.js'

/** Each event that an endpoint wants reached it, in the order of its lane, the same at each try. */
export function toldAsRegistered(
  { endpoint, secret }: KnownEndpoint,
  reader: Reader,
  receptions: readonly Reception[],
): string[] {
  const { webhookId, userId, url, events: filter } = endpoint
  if (reader.webhooks.byId(webhookId) === undefined) return [`${webhookId} is gone`]
  const own = receptions.filter((one) => one.url === url)
  const byEvent = groupedByEvent(own)
  const wrong: string[] = []
  const types: readonly string[] = filter ?? DEFAULT_EVENT_TYPES
  const wanted = [...reader.events.ofUser(userId, 0, Number.MAX_SAFE_INTEGER)].filter(({ type }) =>
    types.includes(type),
  )
  for (const { eventId, type } of wanted) {
    const tries = byEvent.get(eventId) ?? []
    const isTold = tries.some(({ outcome }) => outcome === 'delivered' || outcome === 'gone')
    if (!isTold) wrong.push(`${url} was never told of ${type} ${eventId}`)
    if (new Set(tries.map(({ body }) => body)).size > 1) {
      wrong.push(`${url} was told of ${eventId} in two ways`)
    }
  }
  if (own.some(({ secrets }) => !secrets.includes(secret))) {
    wrong.push(`${url} was told without its secret`)
  }
  return [...wrong, ...outOfOrder(url, wanted, byEvent)]
}

/** An event is first tried once all before it in its lane were. */
function outOfOrder(
  url: string,
  wanted: readonly StoredEvent[],
  byEvent: ReadonlyMap<string, readonly Reception[]>,
): string[] {
  /** By lane: when the last of the first tries ended. */
  const endedAt = new Map<string, number>()
  const wrong: string[] = []
  for (const { eventId, laneKey } of wanted) {
    if (laneKey === null) continue
    const tries = byEvent.get(eventId) ?? []
    const beganAt = tries[0]?.beganAt ?? Number.POSITIVE_INFINITY
    const before = endedAt.get(laneKey) ?? 0
    if (beganAt < before) wrong.push(`${url} was told of ${eventId} before what came before it`)
    const ends = tries.flatMap((one) => one.endedAt ?? [])
    endedAt.set(laneKey, Math.max(before, Math.min(...ends)))
  }
  return wrong
}

function groupedByEvent(receptions: readonly Reception[]): Map<string, Reception[]> {
  const grouped = new Map<string, Reception[]>()
  for (const reception of receptions) {
    const { eventId } = reception
    grouped.set(eventId, [...(grouped.get(eventId) ?? []), reception])
  }
  return grouped
}
