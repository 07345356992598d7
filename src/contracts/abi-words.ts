import type { Address, Hex } from '../domain/ids.js'

/** The static words of ABI-encoded data. */

/** Left-padded 32-byte word of an address, without prefix. */
export function addressWord(address: Address): string {
  return address.slice(2).toLowerCase().padStart(64, '0')
}

/** The 32-byte word at `index` of ABI-encoded `data`, as digits; null past the end. */
export function wordAt(data: Hex, index: number): string | null {
  const start = 2 + index * 64
  return data.length >= start + 64 ? data.slice(start, start + 64) : null
}

/** Unsigned integer at word `index`; null past the end or when not hex. */
export function uintAt(data: Hex, index: number): bigint | null {
  const word = wordAt(data, index)
  return word === null || !/^[0-9a-fA-F]{64}$/.test(word) ? null : BigInt(`0x${word}`)
}
