import type { StoredEvent, TransactionMoment } from '../../domain/event.js'
import type { UserId } from '../../domain/ids.js'
import { minedOf, type StoredMined, storedMined } from './transaction.js'

/** An event as the space `userEvents` holds it; whose it is and its place are its key. */
type Stored = readonly [
  eventId: StoredEvent['eventId'],
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

/** @returns a value to put in the space `userEvents` */
export function encodeEvent(event: StoredEvent): Stored {
  const { eventId, type, atMs, subWalletId, laneKey, data, moment } = event
  const stored = moment === undefined ? null : storedMoment(moment)
  return [eventId, type, atMs, subWalletId, laneKey, data, stored]
}

export function decodeEvent(stored: unknown, userId: UserId, seq: number): StoredEvent {
  const [eventId, type, atMs, subWalletId, laneKey, data, moment] = stored as Stored
  if (moment === null) return { eventId, userId, type, atMs, subWalletId, laneKey, data, seq }
  const then = momentOf(moment)
  return { eventId, userId, type, atMs, subWalletId, laneKey, data, moment: then, seq }
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
