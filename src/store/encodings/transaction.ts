import type { CreditUse } from '../../domain/allowance.js'
import type { LineageId, TxId } from '../../domain/ids.js'
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
 * A transaction changes twice or more after it was signed (broadcast, final), and most of it never
 * does. It is put once as a list of two, what stays and its state; later only its state is
 * put, in a space of its own, where a leaf holds forty and not three.
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

/** Null where it is the key's own id, as that of a key that was never rotated. */
const LINEAGE: Codec<LineageId, Transaction['keyId']> = {
  encode: (lineageId, keyId) => ((lineageId as string) === keyId ? null : lineageId),
  decode: (stored, keyId) => (stored as LineageId | null) ?? (keyId as string as LineageId),
}

type StoredMined = readonly [
  /** A number where it is the hash of one of the transaction's attempts, which is that one. */
  txHash: number | MinedIn['txHash'],
  blockNumber: MinedIn['blockNumber'],
  blockHash: StoredHex,
  outcome: MinedIn['outcome'],
  feeWei: MinedIn['feeWei'],
  executed: unknown,
]

const MINED: Codec<MinedIn, Transaction['attempts']> = {
  encode({ txHash, blockNumber, blockHash, outcome, feeWei, executed }, attempts): StoredMined {
    const place = attempts.findIndex((attempt) => attempt.txHash === txHash)
    return [
      place < 0 ? txHash : place,
      blockNumber,
      storedBlockHash(blockHash),
      outcome,
      feeWei,
      executed === undefined ? null : EXECUTION.encode(executed, null),
    ]
  },
  decode(stored, attempts) {
    const [hash, blockNumber, blockHash, outcome, feeWei, executed] = stored as StoredMined
    const txHash = typeof hash === 'number' ? (attempts[hash]?.txHash ?? '0x') : hash
    const mined = { txHash, blockNumber, blockHash: hexOf(blockHash), outcome, feeWei }
    return executed === null ? mined : { ...mined, executed: EXECUTION.decode(executed, null) }
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
    foreseenMicros: optional(scalar),
    unitsTaken: optional(listOf(UNITS)),
    approval: optional(APPROVAL),
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

/** Whether two are the same but for how they stand. */
export const sameBody = TRANSACTION.isSameBody
