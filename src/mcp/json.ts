import { isUtf8 } from 'node:buffer'

/**
 * Reads the JSON of a request body. Deep nesting and repeated names are refused, because two
 * readers of one body, such as a gateway's filter and this service, could each see another amount.
 */

/** The deepest well-formed message has about ten levels. */
const DEPTH_MAX = 64

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93

type JsonBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'malformed' }
  /** JSON that is not accepted; `reason` is public. */
  | { readonly kind: 'refused'; readonly reason: string }

export function readJson(body: Buffer): JsonBody {
  if (!isUtf8(body)) return { kind: 'malformed' }
  const text = body.toString('utf8')
  const { colons, depth } = scan(text)
  if (depth > DEPTH_MAX) {
    return { kind: 'refused', reason: `JSON is limited to ${DEPTH_MAX} levels of nesting` }
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'malformed' }
  }
  if (countMembers(value) !== colons) return { kind: 'refused', reason: 'a field is given twice' }
  return { kind: 'json', value }
}

/** In well-formed JSON each colon outside a string belongs to a member. */
function scan(text: string): { readonly colons: number; readonly depth: number } {
  let colons = 0
  let depth = 0
  let deepest = 0
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) i = closingQuote(text, i)
    else if (char === COLON) colons++
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) deepest = Math.max(deepest, ++depth)
    else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth--
  }
  return { colons, depth: deepest }
}

function closingQuote(text: string, opening: number): number {
  for (let at = text.indexOf('"', opening + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  return text.length
}

/** Recursion is safe, because the depth is bounded. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let members = 0
  if (Array.isArray(value)) {
    for (const child of value) members += countMembers(child)
    return members
  }
  const object = value as Readonly<Record<string, unknown>>
  // Objects parsed from JSON have no inherited enumerable names.
  for (const name in object) members += 1 + countMembers(object[name])
  return members
}
