import { isUtf8 } from 'node:buffer'
import { invalidAt } from '../api/parse.js'
import { ok, type Result, refuse } from '../errors/fault.js'

const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93

const NOT_JSON = 'the body must be a JSON object in UTF-8'

/**
 * Parses a request body. An empty body is the empty object: the schema then names what is missing,
 * and routes whose input is all in the path need no body.
 */
export function parseJsonObject(body: Buffer): Result<Readonly<Record<string, unknown>>> {
  if (body.byteLength === 0) return ok({})
  if (!isUtf8(body)) return refuse(invalidAt('', NOT_JSON))
  const text = body.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refuse(invalidAt('', NOT_JSON))
  }
  if (!isJsonObject(value)) return refuse(invalidAt('', NOT_JSON))
  if (countMembers(text) !== Object.keys(value).length) {
    return refuse(invalidAt('', 'a field is given twice'))
  }
  return ok(value)
}

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Counts the members of the outermost object in well-formed JSON. Spec silent: a name given twice
 * is refused, since two readers of one body (a gateway's filter and this service, say) may each
 * see another amount. Strings, which are nearly all of a long body, are skipped by `indexOf`.
 */
function countMembers(text: string): number {
  let members = 0
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) i = closingQuote(text, i)
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) depth++
    else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth--
    else if (char === COLON && depth === 1) members++
  }
  return members
}

function closingQuote(text: string, opening: number): number {
  let at = opening
  for (;;) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
}
