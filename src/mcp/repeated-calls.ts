import { LRUCache } from 'lru-cache'
import { type McpHeaders, namedEra, type PlainCall } from './fast-path.js'

/**
 * Recognizes read calls that repeat with another id, because agents poll. A body that differs only
 * in its id from one that was found plain is not parsed again, which saves a fifth of such a call's
 * cost. Only the meaning of a body is cached: the caller and its rights are checked with each
 * request.
 */

/** About 1 MiB with the longest bodies; an evicted call is parsed once more. */
const CALLS_MAX = 1_024
const BODY_BYTES_MAX = 512
/**
 * The two places where clients write the id: after the version, or last. There it is the message's
 * own.
 */
const BEFORE_FIRST_ID = '{"jsonrpc":"2.0","id":'
const BEFORE_LAST_ID = ',"id":'
/** A longer number might not be a safe integer. */
const ID_DIGITS_MAX = 15

const COMMA = 44
const ZERO = 48
const NINE = 57
const CLOSE_BRACE = 125

/** A body, divided without parsing. */
export interface CallText {
  /** The id as JSON. */
  readonly idText: string
  /** Everything after an id that comes first, or before one that comes last. */
  readonly rest: string
}

export interface RepeatedCalls {
  /** Null unless the body would be found plain again. */
  find(headers: McpHeaders, text: CallText): PlainCall | null
  /** Call it with a request that was found plain. */
  learn(text: CallText, call: PlainCall): void
}

export function createRepeatedCalls(): RepeatedCalls {
  const known = new LRUCache<string, PlainCall>({ max: CALLS_MAX })
  return {
    find(headers, { rest, idText }) {
      // A call that is evicted although it is used is soon learned again.
      const call = known.peek(rest)
      if (call === undefined) return null
      const { kind, era, tool, args, envelope } = call
      if (namedEra(headers, 'tools/call') !== era) return null
      if (era === 'modern' && headers.name !== tool.row.name) return null
      return { kind, era, idText, tool, args, envelope }
    },
    learn({ rest }, call) {
      // A write has its own idempotency key, so it hardly ever repeats.
      if (!call.tool.row.movesValue) known.set(rest, call)
    },
  }
}

/** Null for a long body, or one whose id is not an integer at one of the two places. */
export function readCallText(body: Buffer): CallText | null {
  if (body.byteLength > BODY_BYTES_MAX) return null
  // Latin-1 maps each byte to one character, so equal texts are equal bytes.
  const text = body.toString('latin1')
  if (text.startsWith(BEFORE_FIRST_ID)) {
    const start = BEFORE_FIRST_ID.length
    let end = start
    while (isDigit(text.charCodeAt(end))) end++
    if (text.charCodeAt(end) !== COMMA || !isInteger(text, start, end)) return null
    return { idText: text.slice(start, end), rest: text.slice(end) }
  }
  const end = text.length - 1
  if (text.charCodeAt(end) !== CLOSE_BRACE) return null
  let start = end
  while (isDigit(text.charCodeAt(start - 1))) start--
  if (!text.endsWith(BEFORE_LAST_ID, start) || !isInteger(text, start, end)) return null
  return { idText: text.slice(start, end), rest: text.slice(0, start) }
}

/** Whether the digits from `start` to `end` are a number as JSON writes it, and a safe integer. */
function isInteger(text: string, start: number, end: number): boolean {
  const digits = end - start
  if (digits === 0 || digits > ID_DIGITS_MAX) return false
  return digits === 1 || text.charCodeAt(start) !== ZERO
}

/** False for the NaN outside the text. */
function isDigit(char: number): boolean {
  return char >= ZERO && char <= NINE
}
