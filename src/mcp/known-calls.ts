import { LRUCache } from 'lru-cache'
import { type McpHeaders, namedEra, type PlainCall } from './fast-path.js'

/**
 * Calls of read tools that were found plain before. Agents ask the same again and again under
 * another id, so that a body which differs from a known one in nothing but its id need not be parsed
 * and looked through anew. Only what a body means is kept here: who asks, and whether they may, is
 * looked at with each request. Bounded in number and length.
 */

const CALLS_MAX = 1_024
const BODY_BYTES_MAX = 1_024
/**
 * Of what could be learned: to learn costs as much as to read a body, which is lost on bodies that
 * never come again, while one that comes often is soon among the chosen.
 */
const LEARNS_ONE_IN = 8
const ID_NAME = '"id":'
/** More might not be a safe integer. */
const ID_DIGITS_MAX = 15
const ID_CHARS_MAX = 64

const SPACE = 32
const QUOTE = 34
const COMMA = 44
const ZERO = 48
const NINE = 57
const CLOSE_BRACE = 125

/** A body of a request, by what is known of it without parsing. */
export interface CallText {
  /** The id as JSON. */
  readonly idText: string
  /** All but the id. */
  readonly rest: string
  /** Where the id stood in it. */
  readonly idAt: number
}

export interface KnownCalls {
  /** Null unless the call would be found plain again. */
  find(headers: McpHeaders, text: CallText): PlainCall | null
  /** To be called with what was found plain; keeps some of what is worth it. */
  learn(text: CallText, call: PlainCall): void
}

type KnownCall = Omit<PlainCall, 'idText'>

export function createKnownCalls(learnsOneIn = LEARNS_ONE_IN): KnownCalls {
  let untilLearned = 0
  const known = new LRUCache<string, KnownCall>({ max: CALLS_MAX })
  return {
    find(headers, { rest, idText }) {
      // One that drops out although it is used is soon learned again.
      const call = known.peek(rest)
      if (call === undefined) return null
      const { kind, era, tool, args } = call
      if (namedEra(headers, 'tools/call') !== era) return null
      if (era === 'modern' && headers.name !== tool.row.name) return null
      return { kind, era, idText, tool, args }
    },
    learn({ rest, idAt }, { kind, era, tool, args }) {
      // A write has an idempotency key of its own, so that it hardly ever comes again.
      if (tool.row.movesValue || untilLearned-- > 0 || !isOutermost(rest, idAt)) return
      untilLearned = learnsOneIn - 1
      known.set(rest, { kind, era, tool, args: freeze(args) })
    },
  }
}

/**
 * Null for a body that is long, or whose id is none that clients write. Where the body is JSON, its
 * first `"id":` is the end of a member's name, since within a string its last quote were escaped.
 */
export function readCallText(body: Buffer): CallText | null {
  if (body.byteLength > BODY_BYTES_MAX) return null
  // Latin-1 gives each byte one character, so that equal texts are equal bytes.
  const text = body.toString('latin1')
  const nameAt = text.indexOf(ID_NAME)
  if (nameAt === -1) return null
  let start = nameAt + ID_NAME.length
  if (text.charCodeAt(start) === SPACE) start++
  const end = text.charCodeAt(start) === QUOTE ? stringEnd(text, start) : integerEnd(text, start)
  if (end === -1) return null
  const next = text.charCodeAt(end)
  if (next !== COMMA && next !== CLOSE_BRACE) return null
  return {
    idText: text.slice(start, end),
    rest: text.slice(0, start) + text.slice(end),
    idAt: start,
  }
}

/**
 * Whether a message's member that ends at `at` is its own, not one of what it holds: nothing is
 * closed after it but the message, or nothing was opened before it but the message. False where
 * that is not plain to see.
 */
function isOutermost(message: string, at: number): boolean {
  if (at === message.length - 1) return true
  return message.lastIndexOf('{', at) === 0 && message.lastIndexOf('[', at) === -1
}

/** -1 unless an integer without sign and leading zeros, as JSON wants it, starts there. */
function integerEnd(text: string, start: number): number {
  let at = start
  while (isDigit(text.charCodeAt(at))) at++
  const digits = at - start
  if (digits === 0 || digits > ID_DIGITS_MAX) return -1
  return digits > 1 && text.charCodeAt(start) === ZERO ? -1 : at
}

/** -1 unless a string of letters, digits, dots, colons, dashes and underscores starts there. */
function stringEnd(text: string, start: number): number {
  const last = start + ID_CHARS_MAX
  for (let at = start + 1; at <= last; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) return at + 1
    if (!isPlain(char)) return -1
  }
  return -1
}

function isDigit(char: number): boolean {
  return char >= ZERO && char <= NINE
}

/** `-` and `.`, digits and `:`, `A` to `Z`, `_`, `a` to `z`; false for the NaN behind the end. */
function isPlain(char: number): boolean {
  return (
    (char >= 48 && char <= 58) ||
    (char >= 97 && char <= 122) ||
    (char >= 65 && char <= 90) ||
    char === 45 ||
    char === 46 ||
    char === 95
  )
}

/** Since all that make the same call share it. Recursion is safe: depth has been bounded. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const child of Object.values(value)) freeze(child)
  return Object.freeze(value)
}
