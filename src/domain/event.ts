import type { EventId, SubWalletId, UserId } from './ids.js'

export type EventType =
  | 'transaction.broadcast'
  | 'transaction.confirmed'
  | 'transaction.failed'
  | 'transaction.dropped'
  | 'key.rotated'
  | 'key.revoked'
  | 'limit.reached'
  | 'webhook.test'

/** What an endpoint without an `events` filter gets. */
export const DEFAULT_EVENT_TYPES: readonly EventType[] = [
  'transaction.confirmed',
  'transaction.failed',
  'transaction.dropped',
]

/** An entry of the gap-free event log, before the store gives it its place. */
export interface NewEvent {
  readonly eventId: EventId
  readonly userId: UserId
  readonly type: EventType
  readonly atMs: number
  readonly subWalletId: SubWalletId | null
  /** Deliveries of one lane keep their order; null for events of no lane. */
  readonly laneKey: string | null
  /** The wire's `data` object (snake_case), as it was at that moment. */
  readonly data: Readonly<Record<string, unknown>>
}

/** As stored: `seq` counts 1, 2, 3 … over all events of the service, without a gap. */
export interface StoredEvent extends NewEvent {
  readonly seq: number
}
