import type { CreditUse } from '../../domain/allowance.js'
import type { Address, LineageId, TxId } from '../../domain/ids.js'
import type { Reservation } from '../../domain/spend.js'
import type {
  AskedApproval,
  MinedIn,
  SignedAttempt,
  Transaction,
  Valuation,
} from '../../domain/transaction.js'
import type { UnitsTaken } from '../../policy/ceilings.js'
import {
  type Codec,
  inside,
  listOf,
  named,
  nullable,
  optional,
  record,
  recordInParts,
  scalar,
  within,
} from './codec.js'
import { EXECUTION } from './execution.js'
import { hexOf, hexText, type StoredHex, storedBlockHash } from './packing.js'
import { packedRecord, type Unsealed } from './sealing.js'

/**
 * A transaction changes at least twice after it was signed (broadcast, final), but most of it never
 * does. It is written once as a list of two, body and state; later only the state is written, to a
 * separate space, where an LMDB leaf holds forty instead of three.
 */
type Stored = readonly [body: unknown, state: unknown]

type StateField =
  | 'status'
  | 'spentMicros'
  | 'mined'
  | 'error'
  | 'updatedAtMs'
  | 'confirmedAtMs'
  | 'beyondMicros'

const ATTEMPT = record<SignedAttempt>({
  txHash: hexText,
  rawTransaction: hexText,
  maxFeePerGas: scalar,
  maxPriorityFeePerGas: scalar,
  intentId: hexText,
  signedAtMs: scalar,
  cancels: optional(scalar),
})

const VALUATION = record<Valuation>({
  valueMicros: scalar,
  gasMicros: scalar,
  nativePrice: scalar,
  nativePriceDecimals: scalar,
})

const RESERVATION = record<Reservation>({ micros: scalar, day: scalar, month: scalar })

const UNITS = record<UnitsTaken>({ chainId: scalar, token: scalar, amount: scalar })

const APPROVAL = record<AskedApproval>({
  approvalId: scalar,
  url: scalar,
  rule: scalar,
  needed: scalar,
  expiresAtMs: scalar,
  runsAtMs: scalar,
})

const CREDIT = record<CreditUse>({ key: scalar, approvedBy: scalar, amount: scalar })

const ADDRESSES: Codec<readonly Address[]> = {
  encode: (addresses) => addresses,
  decode: (stored) => stored as readonly Address[],
}

/** Null if it equals the key's id, as for a key that was never rotated. */
const LINEAGE: Codec<LineageId, Transaction['keyId']> = {
  encode: (lineageId, keyId) => ((lineageId as string) === keyId ? null : lineageId),
  decode: (stored, keyId) => (stored as LineageId | null) ?? (keyId as string as LineageId),
}

type StoredMined = readonly [
  /** The index of the attempt that has this hash, or the hash. */
  txHash: number | MinedIn['txHash'],
  blockNumber: MinedIn['blockNumber'],
  blockHash: StoredHex,
  outcome: MinedIn['outcome'],
  feeWei: MinedIn['feeWei'],
  executed: unknown,
  /** Omitted unless true; stores of earlier builds do not have it. */
  isStill?: true,
]

const MINED: Codec<MinedIn, Transaction['attempts']> = {
  encode(mined, attempts): StoredMined {
    const { txHash, blockNumber, blockHash, outcome, feeWei, executed, isStill } = mined
    const place = attempts.findIndex((attempt) => attempt.txHash === txHash)
    const stored = [
      place < 0 ? txHash : place,
      blockNumber,
      storedBlockHash(blockHash),
      outcome,
      feeWei,
      executed === undefined ? null : EXECUTION.encode(executed, null),
    ] as const
    return isStill === true ? [...stored, isStill] : stored
  },
  decode(stored, attempts) {
    const [hash, blockNumber, blockHash, outcome, feeWei, executed, isStill] = stored as StoredMined
    const txHash = typeof hash === 'number' ? (attempts[hash]?.txHash ?? '0x') : hash
    const mined = { txHash, blockNumber, blockHash: hexOf(blockHash), outcome, feeWei }
    if (executed !== null) return { ...mined, executed: EXECUTION.decode(executed, null) }
    return isStill === true ? { ...mined, isStill } : mined
  },
}

const TRANSACTION = recordInParts<Transaction, 'txId', StateField, 'call'>(
  'txId',
  {
    subWalletId: scalar,
    userId: scalar,
    keyId: scalar,
    lineageId: within('keyId', LINEAGE),
    requestId: scalar,
    chainId: inside('call', scalar),
    kind: scalar,
    from: scalar,
    to: inside('call', scalar),
    value: inside('call', scalar),
    data: inside('call', scalar),
    nonce: scalar,
    gasLimit: scalar,
    attempts: listOf(ATTEMPT),
    valuation: VALUATION,
    reservation: RESERVATION,
    createdAtMs: scalar,
    credits: optional(listOf(CREDIT)),
    predictedMicros: optional(scalar),
    unitsTaken: optional(listOf(UNITS)),
    approval: optional(APPROVAL),
    shownPayees: optional(ADDRESSES),
  },
  {
    status: scalar,
    spentMicros: scalar,
    mined: within('attempts', nullable(MINED)),
    error: named,
    updatedAtMs: scalar,
    confirmedAtMs: scalar,
    beyondMicros: optional(scalar),
  },
)

/** @returns a value to put in the space `transactions` */
export function encodeTransaction(tx: Transaction): Unsealed {
  return packedRecord([TRANSACTION.encodeBody(tx), TRANSACTION.encodeState(tx)])
}

/** @returns a value to put in the space `transactionStates` */
export function encodeTransactionState(tx: Transaction): Unsealed {
  return packedRecord(TRANSACTION.encodeState(tx))
}

/**
 * @param stored what `transactions` holds
 * @param later what `transactionStates` holds, if anything
 */
export function decodeTransaction(txId: TxId, stored: unknown, later: unknown): Transaction {
  const [body, first] = stored as Stored
  return TRANSACTION.decode(body, later ?? first, txId)
}

/** Whether two transactions differ only in their state. */
export const sameBody = TRANSACTION.isSameBody
