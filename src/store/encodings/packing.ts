import { asBinary } from 'lmdb'
import { Packr } from 'msgpackr'

/** Money is bigint of any size, and comes back as bigint; numbers come back as numbers. */
export const RECORD_ENCODER = {
  useRecords: false,
  useBigIntExtension: true,
  int64AsType: 'bigint',
} as const

/** A value of the store that is encoded already. */
export type Binary = ReturnType<typeof asBinary>

const packr = new Packr(RECORD_ENCODER)

/** @returns MessagePack of `value`; the bytes stay as they are */
export function packed(value: unknown): Uint8Array {
  return packr.pack(value)
}

/** MessagePack, "Array format family": a list of two. */
const PAIR = 0x92

/** @returns what the store's own encoder would write for the list of these two */
export function packedPair(first: Uint8Array, second: Uint8Array): Binary {
  const out = Buffer.allocUnsafe(1 + first.length + second.length)
  out[0] = PAIR
  out.set(first, 1)
  out.set(second, 1 + first.length)
  return asBinary(out)
}
