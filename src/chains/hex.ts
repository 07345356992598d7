import type { Hex } from '../domain/ids.js'
import { RpcShapeError } from './rpc/errors.js'

/** Reading and writing the few hex shapes of JSON-RPC. */

/** 2^256 has 64 digits; anything longer is not a quantity. */
const QUANTITY = /^0x[0-9a-fA-F]{1,64}$/

/** @throws RpcShapeError when `value` is not a hex quantity */
export function quantity(value: unknown): bigint {
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw new RpcShapeError('quantity')
  return BigInt(value)
}

/** @throws RpcShapeError when it is not a hex quantity below 2^53 */
export function quantityNumber(value: unknown): number {
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw new RpcShapeError('quantity')
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new RpcShapeError('quantity out of range')
  return number
}

export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

/** @throws RpcShapeError when `value` is not `bytes` long hex */
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
