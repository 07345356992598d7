import type { CreditUse } from '../../domain/allowance.js'
import type { Hex, LineageId, TxId } from '../../domain/ids.js'
import type { Reservation } from '../../domain/spend.js'
import type { MinedIn, SignedAttempt, Transaction, Valuation } from '../../domain/transaction.js'
import { hexOf, type StoredHex, storedBlockHash, storedHex } from './packing.js'
import { packedRecord, type Unsealed } from './sealing.js'

/**
 * A transaction changes twice or more after it was signed (broadcast, final), and most of it never
 * does. It is put once as a list of two, what stays and how it stands; later only how it stands is
 * put, in a space of its own, where a leaf holds forty and not three.
 */
type StoredTransaction = readonly [body: StoredBody, state: StoredState]

/** Credits are there only where it uses any, and never up to schema 7. */
type StoredBody = readonly [...body: StoredBodyWithout, credits?: readonly StoredCredit[]]

type StoredBodyWithout = readonly [
  /** Its key; up to schema 5 it stood here too. */
  txId: Transaction['txId'] | null,
  subWalletId: Transaction['subWalletId'],
  userId: Transaction['userId'],
  keyId: Transaction['keyId'],
  /** Null where it is the key's own id, as that of a key that was never rotated. */
  lineageId: Transaction['lineageId'] | null,
  requestId: Transaction['requestId'],
  chainId: Transaction['chainId'],
  kind: Transaction['kind'],
  from: Transaction['from'],
  to: Transaction['to'],
  value: Transaction['value'],
  data: Transaction['data'],
  nonce: Transaction['nonce'],
  gasLimit: Transaction['gasLimit'],
  attempts: readonly StoredAttempt[],
  valuation: StoredValuation,
  reservation: StoredReservation,
  createdAtMs: Transaction['createdAtMs'],
]

type StoredCredit = readonly [
  key: CreditUse['key'],
  approvedBy: CreditUse['approvedBy'],
  amount: CreditUse['amount'],
]

type StoredState = readonly [
  status: Transaction['status'],
  spentMicros: Transaction['spentMicros'],
  mined: StoredMined | null,
  error: Transaction['error'],
  updatedAtMs: Transaction['updatedAtMs'],
  confirmedAtMs: Transaction['confirmedAtMs'],
]

type StoredAttempt = readonly [
  txHash: StoredHex,
  rawTransaction: StoredHex,
  maxFeePerGas: SignedAttempt['maxFeePerGas'],
  maxPriorityFeePerGas: SignedAttempt['maxPriorityFeePerGas'],
  intentId: StoredHex,
  signedAtMs: SignedAttempt['signedAtMs'],
  cancels: boolean,
]

type StoredValuation = readonly [
  valueMicros: Valuation['valueMicros'],
  gasMicros: Valuation['gasMicros'],
  nativePrice: Valuation['nativePrice'],
  nativePriceDecimals: Valuation['nativePriceDecimals'],
]

type StoredReservation = readonly [
  micros: Reservation['micros'],
  day: Reservation['day'],
  month: Reservation['month'],
]

/** Where the hash is one of the transaction's attempts, which is that one. */
type StoredMinedHash = number | Hex

type StoredMined = readonly [
  txHash: StoredMinedHash,
  blockNumber: MinedIn['blockNumber'],
  blockHash: StoredHex,
  outcome: MinedIn['outcome'],
  feeWei: MinedIn['feeWei'],
]

/** @returns a value to put in the space `transactions` */
export function encodeTransaction(tx: Transaction): Unsealed {
  return packedRecord([bodyOf(tx), stateOf(tx)])
}

/** @returns a value to put in the space `transactionStates` */
export function encodeTransactionState(tx: Transaction): Unsealed {
  return packedRecord(stateOf(tx))
}

/**
 * @param stored what the space holds; a record of schema 3 or before is a transaction already
 * @param later what `transactionStates` holds, if anything
 */
export function decodeTransaction(txId: TxId, stored: unknown, later: unknown): Transaction {
  if (!Array.isArray(stored)) return stored as Transaction
  const [body, first] = stored as unknown as StoredTransaction
  const state = (later as StoredState | undefined) ?? first
  const attempts = body[14].map(attemptOf)
  return {
    txId,
    subWalletId: body[1],
    userId: body[2],
    keyId: body[3],
    lineageId: body[4] ?? (body[3] as string as LineageId),
    requestId: body[5],
    chainId: body[6],
    kind: body[7],
    from: body[8],
    to: body[9],
    value: body[10],
    data: body[11],
    nonce: body[12],
    gasLimit: body[13],
    attempts,
    valuation: valuationOf(body[15]),
    reservation: { micros: body[16][0], day: body[16][1], month: body[16][2] },
    createdAtMs: body[17],
    ...(body[18] === undefined ? {} : { credits: body[18].map(creditOf) }),
    status: state[0],
    spentMicros: state[1],
    mined: minedOf(state[2], attempts),
    error: state[3],
    updatedAtMs: state[4],
    confirmedAtMs: state[5],
  }
}

function bodyOf(tx: Transaction): StoredBody {
  const { valueMicros, gasMicros, nativePrice, nativePriceDecimals } = tx.valuation
  const { micros, day, month } = tx.reservation
  const body: StoredBody = [
    null,
    tx.subWalletId,
    tx.userId,
    tx.keyId,
    (tx.lineageId as string) === tx.keyId ? null : tx.lineageId,
    tx.requestId,
    tx.chainId,
    tx.kind,
    tx.from,
    tx.to,
    tx.value,
    tx.data,
    tx.nonce,
    tx.gasLimit,
    tx.attempts.map(storedAttempt),
    [valueMicros, gasMicros, nativePrice, nativePriceDecimals],
    [micros, day, month],
    tx.createdAtMs,
  ]
  const { credits } = tx
  return credits === undefined ? body : withCredits(body, credits)
}

/** Nearly none has any: the place is not there for the others. */
function withCredits(body: StoredBody, credits: readonly CreditUse[]): StoredBody {
  const stored = credits.map(
    ({ key, approvedBy, amount }): StoredCredit => [key, approvedBy, amount],
  )
  return [...(body as StoredBodyWithout), stored]
}

function creditOf([key, approvedBy, amount]: StoredCredit): CreditUse {
  return { key, approvedBy, amount }
}

function stateOf(tx: Transaction): StoredState {
  const { status, spentMicros, error, updatedAtMs, confirmedAtMs } = tx
  return [status, spentMicros, storedMined(tx), error, updatedAtMs, confirmedAtMs]
}

function storedMined({ mined, attempts }: Transaction): StoredMined | null {
  if (mined === null) return null
  const { txHash, blockNumber, blockHash, outcome, feeWei } = mined
  const place = attempts.findIndex((attempt) => attempt.txHash === txHash)
  return [place < 0 ? txHash : place, blockNumber, storedBlockHash(blockHash), outcome, feeWei]
}

function minedOf(
  stored: StoredMined | null,
  attempts: Transaction['attempts'],
): Transaction['mined'] {
  if (stored === null) return null
  const [hash, blockNumber, blockHash, outcome, feeWei] = stored
  const txHash = typeof hash === 'number' ? (attempts[hash]?.txHash ?? '0x') : hash
  return { txHash, blockNumber, blockHash: hexOf(blockHash), outcome, feeWei }
}

function storedAttempt(attempt: SignedAttempt): StoredAttempt {
  const { maxFeePerGas, maxPriorityFeePerGas, signedAtMs, cancels = false } = attempt
  const txHash = storedHex(attempt.txHash)
  const raw = storedHex(attempt.rawTransaction)
  const intentId = storedHex(attempt.intentId)
  return [txHash, raw, maxFeePerGas, maxPriorityFeePerGas, intentId, signedAtMs, cancels]
}

function attemptOf(stored: StoredAttempt): SignedAttempt {
  const attempt = {
    txHash: hexOf(stored[0]),
    rawTransaction: hexOf(stored[1]),
    maxFeePerGas: stored[2],
    maxPriorityFeePerGas: stored[3],
    intentId: hexOf(stored[4]),
    signedAtMs: stored[5],
  }
  return stored[6] ? { ...attempt, cancels: true } : attempt
}

function valuationOf(stored: StoredValuation): Valuation {
  const [valueMicros, gasMicros, nativePrice, nativePriceDecimals] = stored
  return { valueMicros, gasMicros, nativePrice, nativePriceDecimals }
}

/** Parts of a stored transaction are replaced, never changed in place, so identity will do. */
export function sameBody(a: Transaction, b: Transaction): boolean {
  return (
    a.txId === b.txId &&
    a.subWalletId === b.subWalletId &&
    a.userId === b.userId &&
    a.keyId === b.keyId &&
    a.lineageId === b.lineageId &&
    a.requestId === b.requestId &&
    a.chainId === b.chainId &&
    a.kind === b.kind &&
    a.from === b.from &&
    a.to === b.to &&
    a.value === b.value &&
    a.data === b.data &&
    a.nonce === b.nonce &&
    a.gasLimit === b.gasLimit &&
    a.attempts === b.attempts &&
    a.valuation === b.valuation &&
    a.reservation === b.reservation &&
    a.credits === b.credits &&
    a.createdAtMs === b.createdAtMs
  )
}
