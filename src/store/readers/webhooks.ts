import type { EventId, UserId, WebhookId } from '../../domain/ids.js'
import type { WebhookEndpoint } from '../../domain/webhook.js'
import { soundly } from '../checked-space.js'
import type { Environment } from '../environment.js'
import { LAST, type Page, type PageOptions, pageIn } from '../pages.js'

export interface WebhookReader {
  byId(id: WebhookId): WebhookEndpoint | undefined
  all(): Generator<WebhookEndpoint>
  ofUser(user: UserId, options: PageOptions): Page<WebhookEndpoint>
  /** A user's first endpoints, without damaged records. */
  soundOfUser(user: UserId, limit: number): readonly WebhookEndpoint[]
  /** Changes with the result of `ofUser`; read it before `fresh`. */
  versionOf(user: UserId): number
}

export function createWebhookReader({
  spaces,
  recordVersions,
  noteDamage,
}: Environment): WebhookReader {
  const ifSound = soundly(noteDamage)
  const byId = (id: string) => spaces.webhooks.get(id) as WebhookEndpoint | undefined

  return {
    byId,
    *all() {
      for (const { value } of spaces.webhooks.getSound({})) yield value as WebhookEndpoint
    },
    ofUser: (user, options) => pageIn(spaces, 'webhooksByUser', user, options, byId),
    soundOfUser: (user, limit) =>
      pageIn(spaces, 'webhooksByUser', user, { limit, cursor: null }, (id) =>
        ifSound(() => byId(id)),
      ).items,
    versionOf: (user) => recordVersions.versionOf(user),
  }
}

/** Reads what an endpoint's actor stores about its deliveries; the actor defines the forms. */
export interface DeliveryReader {
  stateOf<State>(id: WebhookId): State | undefined
  byEvent<Delivery>(id: WebhookId, event: EventId): Delivery | undefined
  /** Oldest first. */
  eventIds(id: WebhookId, limit: number): Generator<EventId>
  ofWebhook<Delivery>(id: WebhookId, options: PageOptions): Page<Delivery>
}

export function createDeliveryReader({ spaces }: Pick<Environment, 'spaces'>): DeliveryReader {
  const byEvent = <Delivery>(id: WebhookId, event: string) =>
    spaces.deliveryRecords.get([id, event]) as Delivery | undefined

  return {
    stateOf: <State>(id: WebhookId) => spaces.deliveries.get(id) as State | undefined,
    byEvent,
    *eventIds(id, limit) {
      const range = spaces.deliveryRecords.getKeys({ start: [id, ''], end: [id, LAST], limit })
      for (const key of range) yield (key as unknown as [string, EventId])[1]
    },
    ofWebhook: <Delivery>(id: WebhookId, options: PageOptions) =>
      pageIn(spaces, 'deliveryRecords', id, options, (event) => byEvent<Delivery>(id, event)),
  }
}
