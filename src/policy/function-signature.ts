import type { Hex } from '../domain/ids.js'
import { keccak256 } from '../domain/keccak.js'

/** A Solidity signature, a selector, or `native` for no calldata at all. */
export type CalledFunction = string

/** An argument's type whose words in a call's head can be read by themselves. */
export type Word =
  | { readonly kind: 'uint' | 'int'; readonly bits: number }
  | { readonly kind: 'bytes'; readonly size: number }
  | { readonly kind: 'address' }
  | { readonly kind: 'bool' }

/** A function as its signature describes it. */
export interface FunctionSignature {
  readonly selector: Hex
  /** The head, word by word; null is the offset of a dynamic argument. */
  readonly head: readonly (Word | null)[]
  /** The position of each argument in the head; null for those that are not one readable word. */
  readonly argumentAt: readonly (number | null)[]
  /** True when there are no dynamic arguments: calldata has one length. */
  readonly isStatic: boolean
}

/**
 * An elementary type, a tuple in brackets, or an array of either, as it lies in a head: the words
 * that it takes there, or one offset. It is flat because nested arrays multiply: 256 characters
 * could describe too many words to count.
 */
type AbiType =
  | { readonly form: 'word'; readonly word: Word }
  /** Null when there are more words than a head may have. */
  | { readonly form: 'words'; readonly words: readonly Word[] | null }
  | { readonly form: 'dynamic' }

const NAME = /^[A-Za-z_$][\w$]*/
const ELEMENTARY = /^(?:(u?int)(\d+)|bytes(\d+)?|address|bool|string)(?![\w])/
const ARRAY = /^\[(\d*)\]/
/** No contract nests deeper; the bound limits the reader's recursion. */
const DEPTH_MAX = 8
/** The most words that the head of a plain call may have. */
const HEAD_WORDS_MAX = 64
const BEHIND_THE_HEAD: readonly null[] = [null]
const encoder = new TextEncoder()

/**
 * Parses `name(type,type)`: canonical types, no spaces, no argument names.
 * @returns null when it is not a signature
 */
export function parseSignature(text: string): FunctionSignature | null {
  const name = NAME.exec(text)?.[0]
  if (name === undefined) return null
  const reader = { text, at: name.length }
  const parts = readTuple(reader, 0)
  if (parts === null || reader.at !== text.length) return null
  const head: (Word | null)[] = []
  const argumentAt: (number | null)[] = []
  for (const part of parts) {
    argumentAt.push(part.form === 'word' ? head.length : null)
    const words = part.form === 'dynamic' ? BEHIND_THE_HEAD : wordsOf(part)
    if (words === null || head.length + words.length > HEAD_WORDS_MAX) return null
    head.push(...words)
  }
  const isStatic = parts.every(({ form }) => form !== 'dynamic')
  return { selector: selectorOf(text), head, argumentAt, isStatic }
}

export function selectorOf(signature: string): Hex {
  const hash = keccak256(encoder.encode(signature))
  let selector: Hex = '0x'
  for (const byte of hash.subarray(0, 4)) selector += byte.toString(16).padStart(2, '0')
  return selector as Hex
}

interface Cursor {
  readonly text: string
  at: number
}

function readTuple(cursor: Cursor, depth: number): AbiType[] | null {
  if (depth > DEPTH_MAX || cursor.text[cursor.at] !== '(') return null
  cursor.at += 1
  const parts: AbiType[] = []
  if (cursor.text[cursor.at] === ')') {
    cursor.at += 1
    return parts
  }
  for (;;) {
    const part = readType(cursor, depth)
    if (part === null) return null
    parts.push(part)
    const next = cursor.text[cursor.at]
    cursor.at += 1
    if (next === ')') return parts
    if (next !== ',') return null
  }
}

function readType(cursor: Cursor, depth: number): AbiType | null {
  let type: AbiType | null
  if (cursor.text[cursor.at] === '(') {
    const parts = readTuple(cursor, depth + 1)
    type = parts === null ? null : tupleOf(parts)
  } else type = readElementary(cursor)
  for (;;) {
    const array = ARRAY.exec(cursor.text.slice(cursor.at))
    if (type === null || array === null) return type
    cursor.at += array[0].length
    type = arrayOf(type, array[1] ?? '')
  }
}

function tupleOf(parts: readonly AbiType[]): AbiType {
  const words: Word[] = []
  let fits = true
  for (const part of parts) {
    if (part.form === 'dynamic') return part
    const more = wordsOf(part)
    if (more === null || words.length + more.length > HEAD_WORDS_MAX) fits = false
    else words.push(...more)
  }
  return { form: 'words', words: fits ? words : null }
}

/** @param length empty for an array of dynamic length */
function arrayOf(element: AbiType, length: string): AbiType | null {
  if (length === '') return { form: 'dynamic' }
  const count = Number(length)
  if (length.startsWith('0') || count > HEAD_WORDS_MAX) return null
  return tupleOf(Array.from({ length: count }, () => element))
}

function wordsOf(type: Exclude<AbiType, { form: 'dynamic' }>): readonly Word[] | null {
  return type.form === 'word' ? [type.word] : type.words
}

function readElementary(cursor: Cursor): AbiType | null {
  const match = ELEMENTARY.exec(cursor.text.slice(cursor.at))
  if (match === null) return null
  const [text, integer, bits, size] = match
  cursor.at += text.length
  if (integer !== undefined) return integerType(integer, bits ?? '')
  if (text === 'address' || text === 'bool') return { form: 'word', word: { kind: text } }
  if (size === undefined) return { form: 'dynamic' }
  const bytes = Number(size)
  if (size.startsWith('0') || bytes > 32) return null
  return { form: 'word', word: { kind: 'bytes', size: bytes } }
}

function integerType(name: string, digits: string): AbiType | null {
  const bits = Number(digits)
  if (digits.startsWith('0') || bits > 256 || bits % 8 !== 0) return null
  return { form: 'word', word: { kind: name === 'int' ? 'int' : 'uint', bits } }
}
