import type { Hex } from '../domain/ids.js'
import { keccak256 } from '../domain/keccak.js'

/** A type of an argument whose words in a call's head can be read by themselves. */
export type Word =
  | { readonly kind: 'uint' | 'int'; readonly bits: number }
  | { readonly kind: 'bytes'; readonly size: number }
  | { readonly kind: 'address' }
  | { readonly kind: 'bool' }

/** A function as its signature says. */
export interface FunctionSignature {
  readonly selector: Hex
  /** The head, word by word; null is the offset of an argument that lies behind the head. */
  readonly head: readonly (Word | null)[]
  /** Where each argument is in the head; null for those that are not one readable word. */
  readonly argumentAt: readonly (number | null)[]
  /** Nothing lies behind the head: calldata has one length. */
  readonly isStatic: boolean
}

/** An elementary type, a tuple in brackets, and arrays of either. */
type AbiType =
  | { readonly form: 'word'; readonly word: Word }
  | { readonly form: 'dynamic' }
  | { readonly form: 'tuple'; readonly parts: readonly AbiType[] }

const NAME = /^[A-Za-z_$][\w$]*/
const ELEMENTARY = /^(?:(u?int)(\d+)|bytes(\d+)?|address|bool|string)(?![\w])/
const ARRAY = /^\[(\d*)\]/
/** No contract nests deeper; the bound keeps the reader's stack short. */
const DEPTH_MAX = 8
/** As many words as calldata of a plain call may have in its head. */
const HEAD_WORDS_MAX = 64
const encoder = new TextEncoder()

/**
 * Reads `name(type,type)`: canonical types, no spaces, no names of arguments.
 * @returns null when it is none
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
    if (!addToHead(head, part)) return null
  }
  const isStatic = parts.every((part) => !isDynamic(part))
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
    type = parts === null ? null : { form: 'tuple', parts }
  } else type = readElementary(cursor)
  for (;;) {
    const array = ARRAY.exec(cursor.text.slice(cursor.at))
    if (type === null || array === null) return type
    cursor.at += array[0].length
    type = arrayOf(type, array[1] ?? '')
  }
}

/** @param length empty for an array that says its own */
function arrayOf(element: AbiType, length: string): AbiType | null {
  if (length === '') return { form: 'dynamic' }
  if (length.startsWith('0') || Number(length) > HEAD_WORDS_MAX) return null
  return { form: 'tuple', parts: Array.from({ length: Number(length) }, () => element) }
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

/** @returns false once the head is too long */
function addToHead(head: (Word | null)[], type: AbiType): boolean {
  if (type.form === 'tuple' && !isDynamic(type)) {
    return type.parts.every((part) => addToHead(head, part))
  }
  head.push(type.form === 'word' ? type.word : null)
  return head.length <= HEAD_WORDS_MAX
}

function isDynamic(type: AbiType): boolean {
  if (type.form === 'tuple') return type.parts.some(isDynamic)
  return type.form === 'dynamic'
}
