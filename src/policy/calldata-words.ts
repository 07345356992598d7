import type { Address, Hex } from '../domain/ids.js'
import type { FunctionSignature, Word } from './function-signature.js'

/** "0x" and a selector. */
export const SELECTOR_CHARS = 10
const WORD_CHARS = 64
/** Digits before an address in its word. */
const ADDRESS_FROM = 24
const ZEROS = '0'.repeat(WORD_CHARS)
const EFFS = 'f'.repeat(WORD_CHARS)

/** The word's 64 digits. @param data lower-case, and long enough */
export function wordAt(data: Hex, index: number): string {
  const from = SELECTOR_CHARS + index * WORD_CHARS
  return data.slice(from, from + WORD_CHARS)
}

export function uintAt(data: Hex, index: number): bigint {
  return BigInt(`0x${wordAt(data, index)}`)
}

/** Of a word that is clean. */
export function addressAt(data: Hex, index: number): Address {
  return `0x${wordAt(data, index).slice(ADDRESS_FROM)}`
}

/** How many whole words follow the selector; NaN when the last is not whole. */
export function wordCount(data: Hex): number {
  const words = (data.length - SELECTOR_CHARS) / WORD_CHARS
  return Number.isInteger(words) ? words : Number.NaN
}

/**
 * Whether calldata with the function's selector is what a compiler would have written: each word
 * within its type, nothing short, and nothing behind where nothing may be. Contracts differ in what
 * they make of anything else.
 * @param data lower-case
 */
export function isWellFormed(data: Hex, { head, isStatic }: FunctionSignature): boolean {
  const words = wordCount(data)
  if (Number.isNaN(words)) return false
  if (isStatic ? words !== head.length : words < head.length) return false
  return head.every((word, at) => word === null || isClean(wordAt(data, at), word))
}

/** Whether the bits that the type leaves free are as they must be. */
export function isClean(digits: string, word: Word): boolean {
  switch (word.kind) {
    case 'address':
      return digits.startsWith(ZEROS.slice(0, ADDRESS_FROM))
    case 'bool':
      return digits.startsWith(ZEROS.slice(1)) && (digits.endsWith('0') || digits.endsWith('1'))
    case 'bytes':
      return digits.endsWith(ZEROS.slice(0, WORD_CHARS - word.size * 2))
    case 'uint':
      return digits.startsWith(ZEROS.slice(0, WORD_CHARS - word.bits / 4))
    case 'int':
      return isSignExtended(digits, word.bits)
  }
}

/** The word's value as a policy writes it. @param digits clean */
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

function isSignExtended(digits: string, bits: number): boolean {
  const free = WORD_CHARS - bits / 4
  const isNegative = (digits[free] ?? '0') >= '8'
  return digits.startsWith((isNegative ? EFFS : ZEROS).slice(0, free))
}
