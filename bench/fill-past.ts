import { randomBytes } from 'node:crypto'
import { ID_PREFIX, type TxId, ulidBody } from '../src/domain/ids.js'
import type { Transaction } from '../src/domain/transaction.js'
import { PRESENT, packedRecord } from '../src/store/encodings/sealing.js'
import type { Environment } from '../src/store/environment.js'
import type { Reader } from '../src/store/reader.js'

const HASH_BYTES = 32
const ORDINAL_BYTES = 6

/** Copies that one LMDB transaction writes: some megabytes. */
export const COPIES_PER_COMMIT = 10_000

/**
 * Writes copies of a stored transaction under new ids and hashes, because millions of encodings
 * would take most of an hour. The bytes are those that the store's codec wrote for `original`, with
 * its hash overwritten; the id is the key. Ids ascend with `atMs` and `ordinal`, so the map fills
 * page after page, as it does over the years.
 */
export function createCopier({ spaces, root }: Environment, reader: Reader) {
  return function copy(original: Transaction, atMs: number, ordinals: readonly number[]): void {
    const hash = original.attempts[0]?.txHash
    const stored = spaces.transactions.get(original.txId)
    if (stored === undefined || hash === undefined) throw new Error('the original is not stored')
    const bytes = packedRecord(stored)
    const hashAt = placeOf(bytes, Buffer.from(hash.slice(2), 'hex'))
    const prefix = randomBytes(HASH_BYTES - ORDINAL_BYTES)
    let last: TxId | null = null
    root.transactionSync(() => {
      for (const ordinal of ordinals) {
        const txId = orderedId(atMs, ordinal)
        const copied = Buffer.from(bytes) as typeof bytes
        copied.set(prefix, hashAt)
        copied.writeUIntBE(ordinal, hashAt + prefix.length, ORDINAL_BYTES)
        void spaces.transactions.put(txId, copied)
        void spaces.transactionsByUser.put([original.userId, txId], PRESENT)
        last = txId
      }
    })
    reader.fresh()
    if (last !== null && reader.transactions.byId(last)?.txId !== last) {
      throw new Error('a copied transaction does not read back')
    }
  }
}

/** An id of that millisecond; of two, the one with the higher ordinal sorts later. */
export function orderedId(atMs: number, ordinal: number): TxId {
  const entropy = Buffer.alloc(10)
  entropy.writeUInt32BE(ordinal, 0)
  return `${ID_PREFIX.tx}${ulidBody(atMs, entropy)}` as TxId
}

/** @throws Error unless they occur exactly once */
function placeOf(bytes: Buffer, wanted: Buffer): number {
  const place = bytes.indexOf(wanted)
  if (place < 0 || bytes.indexOf(wanted, place + 1) >= 0) {
    throw new Error('the stored transaction does not hold its hash once')
  }
  return place
}
