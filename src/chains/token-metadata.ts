import { uintAt, wordAt } from '../contracts/abi-words.js'
import type { Hex } from '../domain/ids.js'
import { printable } from '../domain/printable.js'

export interface TokenMetadata {
  /** 0 to 77. */
  readonly decimals: number
  /**
   * Printable, at most 32 characters; empty when the token has none. Do not rely on it as an
   * identity.
   */
  readonly symbol: string
}

const SYMBOL_BYTES_MAX = 128
const SYMBOL_LENGTH_MAX = 32

/** Reads an answer of `symbol()`: an ABI string, or the bytes32 of early tokens such as MKR. */
export function decodeSymbol(value: unknown): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]*$/.test(value)) return ''
  const data = value as Hex
  if (data.length === 66) return text(wordAt(data, 0) ?? '')
  if (uintAt(data, 0) !== 32n) return ''
  const length = uintAt(data, 1)
  if (length === null || length > BigInt(SYMBOL_BYTES_MAX)) return ''
  return text(data.slice(2 + 128, 2 + 128 + Number(length) * 2))
}

function text(hex: string): string {
  const bytes = Buffer.from(hex, 'hex')
  const end = bytes.indexOf(0)
  const kept = end === -1 ? bytes : bytes.subarray(0, end)
  return printable(kept.toString('utf8')).slice(0, SYMBOL_LENGTH_MAX)
}
