import type { Hex } from '../domain/ids.js'
import { RpcShapeError } from './rpc/errors.js'

/** Reads and writes the few hex forms of JSON-RPC. */

/** 2^256 has 64 digits; anything longer is not a quantity. */
const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/

/** Some nodes write small quantities as JSON numbers. */
function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** @throws RpcShapeError when `value` is neither a hex quantity nor a whole number */
export function quantity(value: unknown): bigint {
  if (isWhole(value)) return BigInt(value)
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw new RpcShapeError('quantity')
  return BigInt(value)
}

/** @throws RpcShapeError when it is neither a hex quantity nor a whole number, or not below 2^53 */
export function quantityNumber(value: unknown): number {
  if (isWhole(value)) return value
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw new RpcShapeError('quantity')
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new RpcShapeError('quantity out of range')
  return number
}

export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

/** @throws RpcShapeError when `value` is not hex of `bytes` bytes */
export function fixedHex(value: unknown, bytes: number): Hex {
  if (typeof value !== 'string' || value.length !== 2 + 2 * bytes || !value.startsWith('0x')) {
    throw new RpcShapeError(`${bytes} bytes`)
  }
  return value as Hex
}

/** @throws RpcShapeError when `value` is not an object */
export function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new RpcShapeError('object')
  return value as Readonly<Record<string, unknown>>
}
