import { DEFAULT_EVENT_TYPES, type EventType } from '../../../src/domain/event-types.js'
import type { EventId } from '../../../src/domain/ids.js'
import type { WebhookEndpoint } from '../../../src/domain/webhook.js'

/**
 * The state of one endpoint and its unfinished deliveries: plain data, stored whole at every
 * change, so it holds neither payloads (the event log has them) nor history (`delivery-record.ts`).
 */
export interface EndpointState {
  readonly endpoint: WebhookEndpoint
  /** Null while enabled. */
  readonly disabledBecause: DisabledBecause | null
  /** Every event of the log up to this `seq` is delivered, given up, or in `pending`. */
  readonly cursor: number
  /** True when the log may hold events past `cursor` that were not taken yet. */
  readonly behind: boolean
  readonly feed: FeedState
  /**
   * Deliveries in the order of the log, then of the console's commands. Feeding adds at most
   * PENDING_MAX.
   */
  readonly pending: readonly PendingDelivery[]
  /** The number of attempts ever started; the last `attemptId` given out. */
  readonly attemptsStarted: number
}

/**
 * Whether a `feed` effect awaits its answer. `outdated`: it does, and events logged since may be
 * missing from the answer.
 */
export type FeedState = 'idle' | 'requested' | 'outdated'

/** `gone`: the receiver answered 410. `console`: its owner switched it off. */
export type DisabledBecause = 'gone' | 'console'

/**
 * | phase | meaning | leaves by |
 * |---|---|---|
 * | queued | not tried yet | its turn in the lane and a free slot |
 * | first-attempt | in flight for the first time; holds its lane | the outcome |
 * | waiting | failed, or requested again; due at `nextTryAtMs` | time and a free slot |
 * | retrying | in flight again; holds no lane | the outcome |
 */
type DeliveryPhase = 'queued' | 'first-attempt' | 'waiting' | 'retrying'

export interface PendingDelivery {
  readonly eventId: EventId
  /** The place in the log, or SEQ_UNKNOWN. */
  readonly seq: number
  /**
   * Names the lane, for example by sub-wallet and chain; null for events whose order does not
   * matter.
   */
  readonly laneKey: string | null
  readonly phase: DeliveryPhase
  /** The number of failed attempts so far. */
  readonly failures: number
  /** Milliseconds since the Unix epoch; 0 unless waiting. */
  readonly nextTryAtMs: number
  /** 0 unless in flight. */
  readonly attemptId: number
}

/** The `seq` of a test event, which gets its place in the same commit that starts the delivery. */
export const SEQ_UNKNOWN = 0

/**
 * The most events taken from the log into `pending`; more stay behind the cursor. The state is
 * stored whole at every change, so a wider window makes each attempt during an outage cost more and
 * gains nothing: reading the log again is cheap.
 */
export const PENDING_MAX = 256
/** The console may request tests and redeliveries beyond PENDING_MAX, up to this. */
export const PENDING_WITH_REQUESTED_MAX = PENDING_MAX + 50
/** Each delivery has a connection of its own. */
export const IN_FLIGHT_MAX = 8
/**
 * Parts of IN_FLIGHT_MAX that overlap: neither a flood of new events nor a backlog of hanging
 * retries can take every slot, and either may use what the other leaves.
 */
export const FIRST_ATTEMPTS_IN_FLIGHT_MAX = 6
export const RETRIES_IN_FLIGHT_MAX = 4
/** CONTRACT.md, "Events and webhooks": after a rotation both secrets sign for 24 h. */
export const SECRET_OVERLAP_MS = 24 * 3_600_000
/** The newest secret and those still in their overlap. */
export const SECRETS_MAX = 4

export function wantsEvent(state: EndpointState, type: EventType): boolean {
  // A test goes to its endpoint by a command of its own.
  if (type === 'webhook.test') return false
  return (state.endpoint.events ?? DEFAULT_EVENT_TYPES).includes(type)
}

/** Sealed secrets that sign at this time, newest first. */
export function activeSecrets(endpoint: WebhookEndpoint, nowMs: number): string[] {
  return endpoint.secrets
    .filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs)
    .map(({ sealed }) => sealed)
}

/**
 * When the actor must be woken by a timer; null when no timer is needed. Retries already due are
 * left out: they wait for a slot, and the outcome that frees it starts them.
 */
export function nextWakeAtMs(state: EndpointState, nowMs: number): number | null {
  if (state.disabledBecause !== null) return null
  let earliest: number | null = null
  for (const { phase, nextTryAtMs } of state.pending) {
    if (phase !== 'waiting' || nextTryAtMs <= nowMs) continue
    if (earliest === null || nextTryAtMs < earliest) earliest = nextTryAtMs
  }
  return earliest
}
