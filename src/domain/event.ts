import type { EventType } from './event-types.js'
import type { EventId, SubWalletId, TxId, UserId } from './ids.js'
import type { Transaction } from './transaction.js'

/**
 * The changing part of a transaction, as it was at an event. The constant part is in its record,
 * which is never deleted; whole copies in each event would be most of what a send writes.
 */
export interface TransactionMoment
  extends Pick<
    Transaction,
    'nonce' | 'status' | 'spentMicros' | 'mined' | 'error' | 'updatedAtMs' | 'confirmedAtMs'
  > {
  readonly txId: TxId
  /** The number of attempts at that time; attempts are only ever added. */
  readonly attemptCount: number
}

/** An entry of the gap-free event log, before the store assigns its place. */
export interface NewEvent {
  /** Null when the log assigns the id together with the place. */
  readonly eventId: EventId | null
  readonly userId: UserId
  readonly type: EventType
  readonly atMs: number
  readonly subWalletId: SubWalletId | null
  /** Deliveries of one lane keep their order; null for events without a lane. */
  readonly laneKey: string | null
  /**
   * The wire's `data` object (snake_case), as it was at that time; null when there is a `moment`.
   */
  readonly data: Readonly<Record<string, unknown>> | null
  /** The source of `data` for a transaction that the wallet itself sent. */
  readonly moment?: TransactionMoment
}

/** An event as stored: `seq` counts 1, 2, 3 … over all events of the service, without a gap. */
export interface StoredEvent extends NewEvent {
  readonly eventId: EventId
  readonly seq: number
}
