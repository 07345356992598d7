import type { Address, Hex } from '../domain/ids.js'
import type { FunctionSignature, Word } from './function-signature.js'

/** "0x" and a selector. */
export const SELECTOR_CHARS = 10
const WORD_CHARS = 64
/** The digits before an address in its word. */
const ADDRESS_FROM = 24
/** Strings by length: a call's words are compared in place, without cutting substrings. */
const ZEROS = Array.from({ length: WORD_CHARS + 1 }, (_, length) => '0'.repeat(length))
const EFFS = Array.from({ length: WORD_CHARS + 1 }, (_, length) => 'f'.repeat(length))

/**
 * The word's 64 digits.
 * @param data lower-case and long enough
 */
export function wordAt(data: Hex, index: number): string {
  const from = SELECTOR_CHARS + index * WORD_CHARS
  return data.slice(from, from + WORD_CHARS)
}

export function uintAt(data: Hex, index: number): bigint {
  return BigInt(`0x${wordAt(data, index)}`)
}

/** The address in a word, which must be clean. */
export function addressAt(data: Hex, index: number): Address {
  return `0x${wordAt(data, index).slice(ADDRESS_FROM)}`
}

/** The number of whole words after the selector; NaN when the last is not whole. */
function wordCount(data: Hex): number {
  const words = (data.length - SELECTOR_CHARS) / WORD_CHARS
  return Number.isInteger(words) ? words : Number.NaN
}

/**
 * Whether calldata with the function's selector is what a compiler would have written: each word
 * within its type, no missing bytes, and no trailing bytes where none may be. Contracts interpret
 * anything else differently.
 * @param data lower-case
 */
export function isWellFormed(data: Hex, { head, isStatic }: FunctionSignature): boolean {
  const words = wordCount(data)
  if (Number.isNaN(words)) return false
  if (isStatic ? words !== head.length : words < head.length) return false
  for (let at = 0; at < head.length; at++) {
    const word = head[at] ?? null
    if (word !== null && !isClean(data, at, word)) return false
  }
  return true
}

/** Whether the bits outside the type have their required value. */
export function isClean(data: Hex, index: number, word: Word): boolean {
  const from = SELECTOR_CHARS + index * WORD_CHARS
  switch (word.kind) {
    case 'address':
      return startsWithZeros(data, from, ADDRESS_FROM)
    case 'bool': {
      const last = data[from + WORD_CHARS - 1]
      return startsWithZeros(data, from, WORD_CHARS - 1) && (last === '0' || last === '1')
    }
    case 'bytes':
      return startsWithZeros(data, from + word.size * 2, WORD_CHARS - word.size * 2)
    case 'uint':
      return startsWithZeros(data, from, WORD_CHARS - word.bits / 4)
    case 'int':
      return isSignExtended(data, from, WORD_CHARS - word.bits / 4)
  }
}

/**
 * The word's value as a policy writes it.
 * @param digits of a clean word
 */
export function wordValue(digits: string, word: Word): string | boolean | bigint {
  switch (word.kind) {
    case 'address':
      return `0x${digits.slice(ADDRESS_FROM)}`
    case 'bool':
      return digits.endsWith('1')
    case 'bytes':
      return `0x${digits.slice(0, word.size * 2)}`
    case 'uint':
      return BigInt(`0x${digits}`)
    case 'int':
      return BigInt.asIntN(256, BigInt(`0x${digits}`))
  }
}

function startsWithZeros(data: Hex, from: number, count: number): boolean {
  return data.startsWith(ZEROS[count] ?? '', from)
}

/** @param free the number of digits before those of the number */
function isSignExtended(data: Hex, from: number, free: number): boolean {
  const isNegative = (data[from + free] ?? '0') >= '8'
  return data.startsWith((isNegative ? EFFS : ZEROS)[free] ?? '', from)
}
