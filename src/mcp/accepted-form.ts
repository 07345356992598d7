/**
 * Decides which of the two forms of an answer a request accepts, by RFC 9110, section 12.5.1. The
 * protocol requires clients to name both, but hosts with an HTTP library of their own name one, any
 * type or none.
 */

/** `either`: JSON if one message is the whole answer, an event stream if more may follow. */
export type AcceptedForm = 'either' | 'json' | 'stream'

export const JSON_TYPE = 'application/json'
export const STREAM_TYPE = 'text/event-stream'

/** The value that clients of the protocol send in nearly every request. */
const USUAL_ACCEPT = 'application/json, text/event-stream'

/** The more specific a range is, the higher its precision; the most precise one decides. */
const NOT_NAMED = -1
const ANY = 0
const ANY_SUBTYPE = 1
const EXACT = 2

interface Weight {
  precision: number
  /** From 0 (never) to 1. */
  q: number
}

/**
 * @param accept the header's value, several joined by commas; empty if absent
 * @returns null if neither form is accepted
 */
export function acceptedForm(accept: string): AcceptedForm | null {
  if (accept === USUAL_ACCEPT || accept.trim() === '') return 'either'
  const json: Weight = { precision: NOT_NAMED, q: 0 }
  const stream: Weight = { precision: NOT_NAMED, q: 0 }
  for (const part of accept.split(',')) {
    const [range = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    const q = weightIn(parameters)
    weigh(json, precisionOf(range, JSON_TYPE), q)
    weigh(stream, precisionOf(range, STREAM_TYPE), q)
  }
  if (json.q === 0) return stream.q === 0 ? null : 'stream'
  if (stream.q === 0) return 'json'
  return stream.q > json.q ? 'stream' : 'either'
}

function weigh(weight: Weight, precision: number, q: number): void {
  if (precision === NOT_NAMED || precision < weight.precision) return
  // Of two equally precise ranges, the one that accepts more counts.
  weight.q = precision === weight.precision ? Math.max(weight.q, q) : q
  weight.precision = precision
}

/** Spec silent: a lone `*`, which older HTTP libraries send, is read as any type. */
function precisionOf(range: string, type: string): number {
  if (range === type) return EXACT
  if (range === '*/*' || range === '*') return ANY
  const isOfItsKind = range.endsWith('/*') && type.startsWith(range.slice(0, -1))
  return isOfItsKind ? ANY_SUBTYPE : NOT_NAMED
}

/**
 * Spec silent: a weight that is not a number is ignored, as are parameters other than the weight.
 */
function weightIn(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => /^q\s*=/.test(parameter))
  const q = given === undefined ? 1 : Number(given.slice(given.indexOf('=') + 1).trim() || 'none')
  return Number.isNaN(q) ? 1 : Math.min(Math.max(q, 0), 1)
}
