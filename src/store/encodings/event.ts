import type { StoredEvent, TransactionMoment } from '../../domain/event.js'
import { minedOf, type StoredMined, storedMined } from './transaction.js'

/** An event as the space `events` holds it; its place is its key. */
type Stored = readonly [
  eventId: StoredEvent['eventId'],
  userId: StoredEvent['userId'],
  type: StoredEvent['type'],
  atMs: StoredEvent['atMs'],
  subWalletId: StoredEvent['subWalletId'],
  laneKey: StoredEvent['laneKey'],
  data: StoredEvent['data'],
  moment: StoredMoment | null,
]

type StoredMoment = readonly [
  txId: TransactionMoment['txId'],
  attemptCount: TransactionMoment['attemptCount'],
  nonce: TransactionMoment['nonce'],
  status: TransactionMoment['status'],
  spentMicros: TransactionMoment['spentMicros'],
  mined: StoredMined | null,
  error: TransactionMoment['error'],
  updatedAtMs: TransactionMoment['updatedAtMs'],
  confirmedAtMs: TransactionMoment['confirmedAtMs'],
]

/** @returns a value to put in the space `events` */
export function encodeEvent(event: StoredEvent): Stored {
  const { eventId, userId, type, atMs, subWalletId, laneKey, data, moment } = event
  const stored = moment === undefined ? null : storedMoment(moment)
  return [eventId, userId, type, atMs, subWalletId, laneKey, data, stored]
}

/** @param stored what the space holds; a record of schema 3 or before is an event already */
export function decodeEvent(stored: unknown, seq: number): StoredEvent {
  if (!Array.isArray(stored)) return stored as StoredEvent
  const [eventId, userId, type, atMs, subWalletId, laneKey, data, moment] =
    stored as unknown as Stored
  const event = { eventId, userId, type, atMs, subWalletId, laneKey, data, seq }
  return moment === null ? event : { ...event, moment: momentOf(moment) }
}

function storedMoment(moment: TransactionMoment): StoredMoment {
  return [
    moment.txId,
    moment.attemptCount,
    moment.nonce,
    moment.status,
    moment.spentMicros,
    storedMined(moment.mined),
    moment.error,
    moment.updatedAtMs,
    moment.confirmedAtMs,
  ]
}

function momentOf(stored: StoredMoment): TransactionMoment {
  return {
    txId: stored[0],
    attemptCount: stored[1],
    nonce: stored[2],
    status: stored[3],
    spentMicros: stored[4],
    mined: minedOf(stored[5]),
    error: stored[6],
    updatedAtMs: stored[7],
    confirmedAtMs: stored[8],
  }
}
