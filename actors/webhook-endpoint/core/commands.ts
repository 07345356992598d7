import type { EventType } from '../../../src/domain/event-types.js'
import type { EventId } from '../../../src/domain/ids.js'
import type { WebhookEndpoint } from '../../../src/domain/webhook.js'

/** The actor's view of a logged event; the payload is loaded at delivery. */
export interface EventMeta {
  readonly eventId: EventId
  readonly seq: number
  readonly type: EventType
  readonly laneKey: string | null
}

/**
 * A command as the console sends it, with a plaintext secret that the shell seals before anything
 * else.
 */
export type IncomingCommand =
  | Exclude<EndpointCommand, RegisterCommand | RotateSecretCommand>
  | (Omit<RegisterCommand, 'endpoint'> & {
      readonly endpoint: Omit<WebhookEndpoint, 'secrets'>
      readonly secret: string
    } & Asker)
  | (Omit<RotateSecretCommand, 'sealed'> & { readonly secret: string } & Asker)

/** Every command carries the time of its decision; randomness comes as `jitter` in [0, 1). */
export type EndpointCommand = ConsoleCommand | LogCommand

/**
 * The origin of a change, for the audit trail; absent fields mean that it did not come from a
 * person at the console.
 */
export interface Asker {
  readonly requestId?: string
  readonly byPerson?: string | undefined
}

/** Answered with the endpoint after the change. */
export type ConsoleCommand = (
  | RegisterCommand
  | ChangeCommand
  | RemoveCommand
  | RotateSecretCommand
  | TestCommand
  | RedeliverCommand
) &
  Asker

export type LogCommand =
  | EventsAppendedCommand
  | AttemptFinishedCommand
  | TickCommand
  | CheckpointCommand
  | RecoverCommand

/** `endpoint.url` has passed `validateWebhookUrl`. */
interface RegisterCommand {
  readonly type: 'register'
  readonly endpoint: WebhookEndpoint
  /** The newest `seq` of the log: only later events are delivered. */
  readonly cursor: number
  readonly nowMs: number
}

/** Absent fields stay as they are. `url` has passed `validateWebhookUrl`. */
export interface ChangeCommand {
  readonly type: 'change'
  readonly changes: Partial<Pick<WebhookEndpoint, 'url' | 'events' | 'description' | 'status'>>
  readonly nowMs: number
}

interface RemoveCommand {
  readonly type: 'remove'
  readonly nowMs: number
}

export interface RotateSecretCommand {
  readonly type: 'rotate-secret'
  readonly sealed: string
  readonly nowMs: number
}

/**
 * The shell appends the event with this id to the log, together with the delivery that it starts.
 */
export interface TestCommand {
  readonly type: 'test'
  readonly eventId: EventId
  readonly nowMs: number
}

export interface RedeliverCommand {
  readonly type: 'redeliver'
  readonly eventId: EventId
  readonly seq: number
  readonly eventType: EventType
  readonly nowMs: number
}

/**
 * A slice of the log: all events of the endpoint's user with afterSeq < seq ≤ throughSeq, in order.
 * Events of types that the endpoint does not want may be left out.
 */
export interface EventsAppendedCommand {
  readonly type: 'events-appended'
  /**
   * `feed`: answers a `feed` effect. `feed-to-end`: the same, and the log held no further events
   * when it was read. `live`: reports events that were just appended.
   */
  readonly source: 'feed' | 'feed-to-end' | 'live'
  readonly afterSeq: number
  readonly throughSeq: number
  readonly events: readonly EventMeta[]
  readonly nowMs: number
}

export interface AttemptFinishedCommand {
  readonly type: 'attempt-finished'
  readonly eventId: EventId
  /** The id that the `deliver` effect gave; the outcome of any other attempt is ignored. */
  readonly attemptId: number
  readonly outcome: AttemptOutcome
  readonly nowMs: number
  readonly jitter: number
}

/** The transport's outcome (`src/webhooks/deliver.ts`) as plain data. */
interface AttemptOutcome {
  readonly kind: 'delivered' | 'retry' | 'gone'
  /** Null when no response came. */
  readonly status: number | null
  /** One short sentence, or null when delivered. */
  readonly error: string | null
  readonly durationMs: number
  /** The pause that the receiver requested, in milliseconds; 0 or absent when it requested none. */
  readonly retryAfterMs?: number
}

/** The time requested by a `wake` effect has come. */
interface TickCommand {
  readonly type: 'tick'
  readonly nowMs: number
}

/** Unsaved progress has waited for CHECKPOINT_MS. */
interface CheckpointCommand {
  readonly type: 'checkpoint'
  readonly nowMs: number
}

/** The actor was loaded from the store: attempts that were in flight have no outcome. */
interface RecoverCommand {
  readonly type: 'recover'
  readonly nowMs: number
}
