import { LRUCache } from 'lru-cache'
import { type McpHeaders, namedEra, type PlainCall } from './fast-path.js'

/**
 * Calls of reads that come again under another id: agents poll. A body that differs from one that was
 * found plain in nothing but its id is not parsed anew, which is a fifth of what such a call costs.
 * Only what a body means is kept: who asks, and whether they may, is looked at with each request.
 */

/** About 1 MiB with the longest bodies; what drops out is parsed again, once. */
const CALLS_MAX = 1_024
const BODY_BYTES_MAX = 512
/** Where clients write the id: next to the version, or last. There it is the message's own. */
const BEFORE_FIRST_ID = '{"jsonrpc":"2.0","id":'
const BEFORE_LAST_ID = ',"id":'
/** More might not be a safe integer. */
const ID_DIGITS_MAX = 15

const COMMA = 44
const ZERO = 48
const NINE = 57
const CLOSE_BRACE = 125

/** A body, divided without parsing. */
export interface CallText {
  /** The id as JSON. */
  readonly idText: string
  /** All behind an id that comes first, or before one that comes last. */
  readonly rest: string
}

export interface RepeatedCalls {
  /** Null unless the body would be found plain again. */
  find(headers: McpHeaders, text: CallText): PlainCall | null
  /** To be called with what was found plain. */
  learn(text: CallText, call: PlainCall): void
}

export function createRepeatedCalls(): RepeatedCalls {
  const known = new LRUCache<string, PlainCall>({ max: CALLS_MAX })
  return {
    find(headers, { rest, idText }) {
      // One that drops out although it is used is soon learned again.
      const call = known.peek(rest)
      if (call === undefined) return null
      const { kind, era, tool, args, envelope } = call
      if (namedEra(headers, 'tools/call') !== era) return null
      if (era === 'modern' && headers.name !== tool.row.name) return null
      return { kind, era, idText, tool, args, envelope }
    },
    learn({ rest }, call) {
      // A write has an idempotency key of its own, so that it hardly ever comes again.
      if (!call.tool.row.movesValue) known.set(rest, call)
    },
  }
}

/** Null for a body that is long, or whose id is no integer at one of the two places. */
export function readCallText(body: Buffer): CallText | null {
  if (body.byteLength > BODY_BYTES_MAX) return null
  // Latin-1 gives each byte one character, so that equal texts are equal bytes.
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

/** Whether the digits from `start` to `end` are a number as JSON wants it, and a safe one. */
function isInteger(text: string, start: number, end: number): boolean {
  const digits = end - start
  if (digits === 0 || digits > ID_DIGITS_MAX) return false
  return digits === 1 || text.charCodeAt(start) !== ZERO
}

/** False for the NaN outside the text. */
function isDigit(char: number): boolean {
  return char >= ZERO && char <= NINE
}
