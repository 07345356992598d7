import type { StoredEvent, TransactionMoment } from '../../domain/event.js'
import type { SubWalletId, UserId } from '../../domain/ids.js'
import type { MinedIn } from '../../domain/transaction.js'
import {
  type Codec,
  named,
  nullable,
  optional,
  record,
  recordWithout,
  scalar,
  within,
} from './codec.js'
import { EXECUTION } from './execution.js'
import { blockHashText, hexText } from './packing.js'
import { packedRecord, type Unsealed } from './sealing.js'

/**
 * An event contains where the transaction was mined, but not whether its spend was settled by that
 * block.
 */
const MINED = record<Omit<MinedIn, 'isStill'>>({
  txHash: hexText,
  blockNumber: scalar,
  blockHash: blockHashText,
  outcome: scalar,
  feeWei: scalar,
  executed: optional(EXECUTION),
})

const MOMENT = record<TransactionMoment>({
  txId: scalar,
  attemptCount: scalar,
  nonce: scalar,
  status: scalar,
  spentMicros: scalar,
  mined: nullable(MINED),
  error: named,
  updatedAtMs: scalar,
  confirmedAtMs: scalar,
})

/** A lane's key consists of its sub-wallet, which is already a field, and its chain. */
const LANE: Codec<StoredEvent['laneKey'], SubWalletId | null> = {
  encode(laneKey, subWalletId) {
    if (laneKey === null || subWalletId === null) return laneKey
    const chainId = Number(laneKey.slice(subWalletId.length + 1))
    return laneKey === laneOf(subWalletId, chainId) ? chainId : laneKey
  },
  decode: (stored, subWalletId) =>
    typeof stored === 'number' ? laneOf(subWalletId, stored) : (stored as string | null),
}

function laneOf(subWalletId: string | null, chainId: number): string {
  return `${subWalletId}:${chainId}`
}

/** The user's id is in the record's key. */
const EVENT = recordWithout<StoredEvent, 'userId'>('userId', {
  seq: scalar,
  eventId: scalar,
  type: scalar,
  atMs: scalar,
  subWalletId: scalar,
  laneKey: within('subWalletId', LANE),
  data: named,
  moment: optional(MOMENT),
})

/**
 * @param events of one user and one commit
 * @returns a value to put in the space `userEvents`
 */
export function encodeEvents(events: readonly StoredEvent[]): Unsealed {
  return packedRecord(events.map(EVENT.encode))
}

export function decodeEvents(stored: unknown, user: UserId): StoredEvent[] {
  return (stored as readonly unknown[]).map((event) => EVENT.decode(event, user))
}
