import type { TxId } from '../../domain/ids.js'
import type { Reservation } from '../../domain/spend.js'
import {
  isFinal,
  type MinedIn,
  type SignedAttempt,
  type Transaction,
  type Valuation,
} from '../../domain/transaction.js'
import { type Binary, packed, packedPair } from './packing.js'

/**
 * A transaction is written whole three times or more (signed, broadcast, final), and most of it
 * never changes. It is stored as a list of two: what stays and what changes. The bytes of what
 * stays are kept while it is open, so that only the rest is encoded again.
 */
type StoredTransaction = readonly [body: StoredBody, tail: StoredTail]

type StoredBody = readonly [
  txId: Transaction['txId'],
  subWalletId: Transaction['subWalletId'],
  userId: Transaction['userId'],
  keyId: Transaction['keyId'],
  lineageId: Transaction['lineageId'],
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

type StoredTail = readonly [
  status: Transaction['status'],
  spentMicros: Transaction['spentMicros'],
  mined: StoredMined | null,
  error: Transaction['error'],
  updatedAtMs: Transaction['updatedAtMs'],
  confirmedAtMs: Transaction['confirmedAtMs'],
]

type StoredAttempt = readonly [
  txHash: SignedAttempt['txHash'],
  rawTransaction: SignedAttempt['rawTransaction'],
  maxFeePerGas: SignedAttempt['maxFeePerGas'],
  maxPriorityFeePerGas: SignedAttempt['maxPriorityFeePerGas'],
  intentId: SignedAttempt['intentId'],
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

export type StoredMined = readonly [
  txHash: MinedIn['txHash'],
  blockNumber: MinedIn['blockNumber'],
  blockHash: MinedIn['blockHash'],
  outcome: MinedIn['outcome'],
  feeWei: MinedIn['feeWei'],
]

interface KnownBody {
  /** What the bytes were made of. */
  readonly tx: Transaction
  readonly bytes: Uint8Array
}

/** Bodies kept by a thread; beyond it the oldest is encoded anew when it changes. 8 MiB at most. */
const BODIES_MAX = 2_048
/** A plain transfer's is below a kilobyte. Longer calldata is seldom, and is encoded each time. */
const BODY_BYTES_MAX = 4_096

const bodies = new Map<TxId, KnownBody>()

/** @returns a value to put in the space `transactions` */
export function encodeTransaction(tx: Transaction): Binary {
  const body = bodyOf(tx)
  if (isFinal(tx.status)) bodies.delete(tx.txId)
  const tail: StoredTail = [
    tx.status,
    tx.spentMicros,
    storedMined(tx.mined),
    tx.error,
    tx.updatedAtMs,
    tx.confirmedAtMs,
  ]
  return packedPair(body, packed(tail))
}

/** @param stored what the space holds; a record of schema 3 or before is a transaction already */
export function decodeTransaction(stored: unknown): Transaction {
  if (!Array.isArray(stored)) return stored as Transaction
  const [body, tail] = stored as unknown as StoredTransaction
  return {
    txId: body[0],
    subWalletId: body[1],
    userId: body[2],
    keyId: body[3],
    lineageId: body[4],
    requestId: body[5],
    chainId: body[6],
    kind: body[7],
    from: body[8],
    to: body[9],
    value: body[10],
    data: body[11],
    nonce: body[12],
    gasLimit: body[13],
    attempts: body[14].map(attemptOf),
    valuation: valuationOf(body[15]),
    reservation: { micros: body[16][0], day: body[16][1], month: body[16][2] },
    createdAtMs: body[17],
    status: tail[0],
    spentMicros: tail[1],
    mined: minedOf(tail[2]),
    error: tail[3],
    updatedAtMs: tail[4],
    confirmedAtMs: tail[5],
  }
}

export function storedMined(mined: MinedIn | null): StoredMined | null {
  if (mined === null) return null
  const { txHash, blockNumber, blockHash, outcome, feeWei } = mined
  return [txHash, blockNumber, blockHash, outcome, feeWei]
}

export function minedOf(stored: StoredMined | null): MinedIn | null {
  if (stored === null) return null
  const [txHash, blockNumber, blockHash, outcome, feeWei] = stored
  return { txHash, blockNumber, blockHash, outcome, feeWei }
}

function bodyOf(tx: Transaction): Uint8Array {
  const known = bodies.get(tx.txId)
  if (known !== undefined && sameBody(known.tx, tx)) return known.bytes
  const { valueMicros, gasMicros, nativePrice, nativePriceDecimals } = tx.valuation
  const { micros, day, month } = tx.reservation
  const body: StoredBody = [
    tx.txId,
    tx.subWalletId,
    tx.userId,
    tx.keyId,
    tx.lineageId,
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
  const bytes = packed(body)
  if (bytes.length <= BODY_BYTES_MAX && !isFinal(tx.status)) keep(tx, bytes)
  return bytes
}

function storedAttempt(attempt: SignedAttempt): StoredAttempt {
  const { txHash, rawTransaction, maxFeePerGas, maxPriorityFeePerGas, intentId } = attempt
  const { signedAtMs, cancels = false } = attempt
  return [txHash, rawTransaction, maxFeePerGas, maxPriorityFeePerGas, intentId, signedAtMs, cancels]
}

function attemptOf(stored: StoredAttempt): SignedAttempt {
  const [txHash, rawTransaction, maxFeePerGas, maxPriorityFeePerGas, intentId] = stored
  const signedAtMs = stored[5]
  const fees = { maxFeePerGas, maxPriorityFeePerGas }
  return stored[6]
    ? { txHash, rawTransaction, ...fees, intentId, signedAtMs, cancels: true }
    : { txHash, rawTransaction, ...fees, intentId, signedAtMs }
}

function valuationOf(stored: StoredValuation): Valuation {
  const [valueMicros, gasMicros, nativePrice, nativePriceDecimals] = stored
  return { valueMicros, gasMicros, nativePrice, nativePriceDecimals }
}

/** Parts of a stored transaction are replaced, never changed in place, so identity will do. */
function sameBody(a: Transaction, b: Transaction): boolean {
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
    a.createdAtMs === b.createdAtMs
  )
}

function keep(tx: Transaction, bytes: Uint8Array): void {
  bodies.set(tx.txId, { tx, bytes })
  if (bodies.size <= BODIES_MAX) return
  for (const oldest of bodies.keys()) {
    bodies.delete(oldest)
    return
  }
}
