import type { EventId } from '../../../src/domain/ids.js'
import type { WebhookEndpoint } from '../../../src/domain/webhook.js'
import type { DisabledBecause, FeedState } from './state.js'

/**
 * The endpoint's events, as they are stored; `evolve` folds them, `delivery-record.ts` lists them.
 */
export type EndpointEvent =
  | {
      readonly type: 'registered'
      readonly endpoint: WebhookEndpoint
      readonly cursor: number
      readonly atMs: number
    }
  | {
      readonly type: 'changed'
      readonly changes: Partial<Pick<WebhookEndpoint, 'url' | 'events' | 'description'>>
      readonly atMs: number
    }
  | { readonly type: 'enabled'; readonly atMs: number }
  | { readonly type: 'disabled'; readonly because: DisabledBecause; readonly atMs: number }
  | { readonly type: 'removed'; readonly atMs: number }
  | {
      readonly type: 'secrets-set'
      readonly secrets: WebhookEndpoint['secrets']
      readonly atMs: number
    }
  | {
      /** The cursor moved, and these events were queued. */
      readonly type: 'log-taken'
      readonly queued: readonly QueuedEvent[]
      readonly cursor: number
      readonly behind: boolean
      readonly feed: FeedState
      readonly atMs: number
    }
  | { readonly type: 'feed-requested'; readonly atMs: number }
  /** Changes nothing; the state is written. */
  | { readonly type: 'checkpointed'; readonly atMs: number }
  | {
      /** A person requested it: due at once, outside every lane. */
      readonly type: 'delivery-requested'
      readonly eventId: EventId
      readonly seq: number
      readonly origin: 'test' | 'redelivery'
      readonly atMs: number
    }
  | { readonly type: 'delivery-hastened'; readonly eventId: EventId; readonly atMs: number }
  | {
      readonly type: 'attempt-started'
      readonly eventId: EventId
      readonly attemptId: number
      readonly atMs: number
    }
  | AttemptFinishedEvent
  | {
      /** Deliveries in flight when the process ended; their attempts start again. */
      readonly type: 'attempts-interrupted'
      readonly eventIds: readonly EventId[]
      readonly atMs: number
    }

export interface AttemptFinishedEvent {
  readonly type: 'attempt-finished'
  readonly eventId: EventId
  readonly attemptId: number
  /** `exhausted`: failed, and no retry is left. `gone`: 410; the endpoint is disabled. */
  readonly result: 'delivered' | 'retry' | 'exhausted' | 'gone'
  readonly status: number | null
  readonly error: string | null
  readonly durationMs: number
  /** Null unless `result` is `retry`. */
  readonly nextTryAtMs: number | null
  readonly atMs: number
}

export interface QueuedEvent {
  readonly eventId: EventId
  readonly seq: number
  readonly laneKey: string | null
}

/** The work that the shell does once the events are durable. */
export type EndpointEffect =
  | {
      /**
       * Loads the payload, signs with the secrets in force, sends, and reports as
       * `attempt-finished`.
       */
      readonly type: 'deliver'
      readonly eventId: EventId
      readonly attemptId: number
    }
  | {
      /**
       * Reads the log past `afterSeq`; answers with `events-appended`, even when there is nothing.
       */
      readonly type: 'feed'
      readonly afterSeq: number
      readonly limit: number
    }
  | {
      /** Sends `tick` at this time; replaces the earlier wake. Null when no wake is needed. */
      readonly type: 'wake'
      readonly atMs: number | null
    }
