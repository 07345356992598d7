import { asBinary } from 'lmdb'
import { Packr } from 'msgpackr'
import type { TxId } from '../domain/ids.js'
import { isFinal, type Transaction } from '../domain/transaction.js'
import { RECORD_ENCODER } from './environment.js'

/**
 * A transaction is written whole three times or more (signed, broadcast, final), and most of it
 * never changes. The bytes of that part are kept while it is open, so that only the rest is encoded
 * again. What is stored is the same MessagePack map that the store's own encoder writes.
 */
type Tail = Pick<
  Transaction,
  'status' | 'spentMicros' | 'mined' | 'error' | 'updatedAtMs' | 'confirmedAtMs'
>
type Body = Omit<Transaction, keyof Tail>

interface KnownBody {
  /** What the bytes were made of. */
  readonly tx: Transaction
  readonly encoded: EncodedFields
}

interface EncodedFields {
  readonly count: number
  /** Keys and values, without the header of their map. */
  readonly bytes: Uint8Array
}

/** Bodies kept by a thread; beyond it the oldest is encoded anew when it changes. 8 MiB at most. */
const BODIES_MAX = 2_048
/** A plain transfer's is a kilobyte. Longer calldata is seldom, and is encoded anew each time. */
const BODY_BYTES_MAX = 4_096

const packr = new Packr(RECORD_ENCODER)
const bodies = new Map<TxId, KnownBody>()

/** @returns a value to put in the space `transactions` */
export function encodeTransaction(tx: Transaction): ReturnType<typeof asBinary> {
  const body = bodyOf(tx)
  const { status, spentMicros, mined, error, updatedAtMs, confirmedAtMs } = tx
  const tail: Tail = { status, spentMicros, mined, error, updatedAtMs, confirmedAtMs }
  const rest = encodeFields(tail)
  if (isFinal(status)) bodies.delete(tx.txId)
  return asBinary(joined(body, rest))
}

function bodyOf(tx: Transaction): EncodedFields {
  const known = bodies.get(tx.txId)
  if (known !== undefined && sameBody(known.tx, tx)) return known.encoded
  const { txId, subWalletId, userId, keyId, lineageId, requestId, chainId, kind, from } = tx
  const { to, value, data, nonce, gasLimit, attempts, valuation, reservation, createdAtMs } = tx
  const body: Body = {
    txId,
    subWalletId,
    userId,
    keyId,
    lineageId,
    requestId,
    chainId,
    kind,
    from,
    to,
    value,
    data,
    nonce,
    gasLimit,
    attempts,
    valuation,
    reservation,
    createdAtMs,
  }
  const encoded = encodeFields(body)
  if (encoded.bytes.length <= BODY_BYTES_MAX) keep(tx, encoded)
  return encoded
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

function keep(tx: Transaction, encoded: EncodedFields): void {
  bodies.set(tx.txId, { tx, encoded })
  if (bodies.size <= BODIES_MAX) return
  for (const oldest of bodies.keys()) {
    bodies.delete(oldest)
    return
  }
}

/** MessagePack, "Map format family". */
const FIXMAP = 0x80
const FIXMAP_COUNT_MASK = 0x0f
const MAP_16 = 0xde
const MAP_16_HEADER_BYTES = 3

function encodeFields(fields: Body | Tail): EncodedFields {
  const bytes = packr.pack(fields)
  const head = bytes.readUInt8(0)
  if (head === MAP_16) {
    return { count: bytes.readUInt16BE(1), bytes: bytes.subarray(MAP_16_HEADER_BYTES) }
  }
  if ((head & ~FIXMAP_COUNT_MASK) !== FIXMAP) throw new Error('a record was encoded as no map')
  return { count: head & FIXMAP_COUNT_MASK, bytes: bytes.subarray(1) }
}

function joined(a: EncodedFields, b: EncodedFields): Buffer {
  const out = Buffer.allocUnsafe(MAP_16_HEADER_BYTES + a.bytes.length + b.bytes.length)
  out.writeUInt8(MAP_16, 0)
  out.writeUInt16BE(a.count + b.count, 1)
  out.set(a.bytes, MAP_16_HEADER_BYTES)
  out.set(b.bytes, MAP_16_HEADER_BYTES + a.bytes.length)
  return out
}
