import type { StoredEvent, TransactionMoment } from '../../domain/event.js'
import type { UserId } from '../../domain/ids.js'
import type { MinedIn } from '../../domain/transaction.js'
import { hexOf, type StoredHex, storedBlockHash, storedHex } from './packing.js'
import { packedRecord, type Unsealed } from './sealing.js'

/** Events of one user and one commit; whose they are is their key. */
type StoredBlock = readonly (readonly [seq: StoredEvent['seq'], event: Stored])[]

/** An event in a block, and alone in what schema 4 wrote, where its place is its key. */
type Stored = readonly [
  eventId: StoredEvent['eventId'],
  type: StoredEvent['type'],
  atMs: StoredEvent['atMs'],
  subWalletId: StoredEvent['subWalletId'],
  /** The chain id of a lane of the sub-wallet; up to schema 5 the key itself. */
  laneKey: StoredEvent['laneKey'] | number,
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

type StoredMined = readonly [
  txHash: StoredHex,
  blockNumber: MinedIn['blockNumber'],
  blockHash: StoredHex,
  outcome: MinedIn['outcome'],
  feeWei: MinedIn['feeWei'],
]

/** @returns a value to put in the space `userEvents` */
export function encodeEvents(events: readonly StoredEvent[]): Unsealed {
  const block: StoredBlock = events.map((event) => [event.seq, storedEvent(event)] as const)
  return packedRecord(block)
}

/** @param lastSeq what the key says */
export function decodeEvents(stored: unknown, user: UserId, lastSeq: number): StoredEvent[] {
  const block = stored as StoredBlock | Stored
  if (!isBlock(block)) return [eventOf(block, user, lastSeq)]
  return block.map(([seq, event]) => eventOf(event, user, seq))
}

function isBlock(stored: StoredBlock | Stored): stored is StoredBlock {
  return Array.isArray(stored[0])
}

function storedEvent(event: StoredEvent): Stored {
  const { eventId, type, atMs, subWalletId, laneKey, data, moment } = event
  const stored = moment === undefined ? null : storedMoment(moment)
  return [eventId, type, atMs, subWalletId, storedLane(laneKey, subWalletId), data, stored]
}

/** A lane is named by its sub-wallet and its chain, of which the first stands beside it. */
function storedLane(laneKey: StoredEvent['laneKey'], subWalletId: string | null): Stored[4] {
  if (laneKey === null || subWalletId === null) return laneKey
  const chainId = Number(laneKey.slice(subWalletId.length + 1))
  return laneKey === laneOf(subWalletId, chainId) ? chainId : laneKey
}

function laneOf(subWalletId: string | null, chainId: number): string {
  return `${subWalletId}:${chainId}`
}

function eventOf(stored: Stored, userId: UserId, seq: number): StoredEvent {
  const [eventId, type, atMs, subWalletId, lane, data, moment] = stored
  const laneKey = typeof lane === 'number' ? laneOf(subWalletId, lane) : lane
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
    moment.mined && storedMined(moment.mined),
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
    mined: stored[5] && minedOf(stored[5]),
    error: stored[6],
    updatedAtMs: stored[7],
    confirmedAtMs: stored[8],
  }
}

function storedMined(mined: MinedIn): StoredMined {
  const { txHash, blockNumber, blockHash, outcome, feeWei } = mined
  return [storedHex(txHash), blockNumber, storedBlockHash(blockHash), outcome, feeWei]
}

function minedOf([txHash, blockNumber, blockHash, outcome, feeWei]: StoredMined): MinedIn {
  return {
    txHash: hexOf(txHash),
    blockNumber,
    blockHash: hexOf(blockHash),
    outcome,
    feeWei,
  }
}
