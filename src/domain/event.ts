import type { FreezeScope } from './freeze.js'
import type { EventId, SubWalletId, TxId, UserId } from './ids.js'
import type { Transaction } from './transaction.js'

type FreezeMoment = `${FreezeScope}.${'frozen' | 'unfrozen'}`

export type EventType =
  | 'transaction.broadcast'
  | 'transaction.confirmed'
  | 'transaction.failed'
  | 'transaction.dropped'
  | 'key.rotated'
  | 'key.revoked'
  | 'limit.reached'
  | FreezeMoment
  | `approval.${'requested' | 'approved' | 'declined' | 'expired'}`
  | 'webhook.test'

/** What an endpoint without an `events` filter gets. */
export const DEFAULT_EVENT_TYPES: readonly EventType[] = [
  'transaction.confirmed',
  'transaction.failed',
  'transaction.dropped',
]

/**
 * What of a transaction changes, as it was at an event. The rest is in its record, which is never
 * deleted: kept whole in each event, it would be most of what a send writes.
 */
export interface TransactionMoment
  extends Pick<
    Transaction,
    'nonce' | 'status' | 'spentMicros' | 'mined' | 'error' | 'updatedAtMs' | 'confirmedAtMs'
  > {
  readonly txId: TxId
  /** How many there were; more may follow, and none is ever taken away. */
  readonly attemptCount: number
}

/** An entry of the gap-free event log, before the store gives it its place. */
export interface NewEvent {
  /** Null: the log names it when it gives it its place. */
  readonly eventId: EventId | null
  readonly userId: UserId
  readonly type: EventType
  readonly atMs: number
  readonly subWalletId: SubWalletId | null
  /** Deliveries of one lane keep their order; null for events of no lane. */
  readonly laneKey: string | null
  /** The wire's `data` object (snake_case), as it was then; null where it is a `moment`. */
  readonly data: Readonly<Record<string, unknown>> | null
  /** What `data` is made of for a transaction that the wallet itself sent. */
  readonly moment?: TransactionMoment
}

/** As stored: `seq` counts 1, 2, 3 … over all events of the service, without a gap. */
export interface StoredEvent extends NewEvent {
  readonly eventId: EventId
  readonly seq: number
}
