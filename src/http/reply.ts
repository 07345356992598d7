import { errorBody } from '../api/error-body.js'
import { CATALOGUE } from '../errors/catalogue.js'
import { type Fault, fault } from '../errors/fault.js'

/** An answer as plain data, and the answers to refused requests. */

export type Header = readonly [name: string, value: string]

export interface Reply {
  readonly status: number
  readonly body: string | Uint8Array
  /** Defaults to `application/json`. */
  readonly contentType?: string
  /** Defaults to `no-store`, because answers are about money and change. */
  readonly cacheControl?: string
  readonly headers?: readonly Header[]
}

/** The head of an answer whose length is not known yet. */
export type ReplyHead = Omit<Reply, 'body'>

export const NO_HEADERS: readonly Header[] = []

/** Spec silent: OVERLOADED passes as soon as a batch has been sent; the others need a repair. */
const OVERLOADED_RETRY_SECONDS = 1
const UNAVAILABLE_RETRY_SECONDS = 5

const ID_MARK = '<id>'
const [OVERLOADED_HEAD = '', OVERLOADED_TAIL = ''] = JSON.stringify(
  errorBody(fault('OVERLOADED'), ID_MARK),
).split(ID_MARK)
const OVERLOADED_HEADERS: readonly Header[] = [['Retry-After', String(OVERLOADED_RETRY_SECONDS)]]

/** The result of `faultReply` for OVERLOADED. JSON escapes no character of a request id. */
export function overloadedReply(requestId: string): Reply {
  const body = OVERLOADED_HEAD + requestId + OVERLOADED_TAIL
  return { status: CATALOGUE.OVERLOADED.status, body, headers: OVERLOADED_HEADERS }
}

/**
 * A refusal before the caller is known. Not a key's quota is used up, but the capacity that all
 * requests share (draft-ietf-httpapi-ratelimit-headers, quota unit `concurrent-requests`).
 */
export function turnedAwayReply(requestId: string, inFlightMax: number): Reply {
  const headers: readonly Header[] = [
    ...OVERLOADED_HEADERS,
    ['RateLimit', `"in-flight";r=0;t=${OVERLOADED_RETRY_SECONDS}`],
    ['RateLimit-Policy', `"in-flight";q=${inFlightMax};qu="concurrent-requests"`],
  ]
  return { ...overloadedReply(requestId), headers }
}

/** The error body (CONTRACT.md, "Errors"). */
export function faultReply(
  refusal: Fault,
  requestId: string,
  headers: readonly Header[] = NO_HEADERS,
): Reply {
  const { status } = CATALOGUE[refusal.code]
  const body = JSON.stringify(errorBody(refusal, requestId))
  const seconds = retryAfterSeconds(refusal)
  if (seconds === null) return { status, body, headers }
  return { status, body, headers: [...headers, ['Retry-After', String(seconds)]] }
}

/** Null if waiting is not known to help. */
function retryAfterSeconds({ code, details }: Fault): number | null {
  if (code === 'OVERLOADED') return OVERLOADED_RETRY_SECONDS
  if (code === 'OUTCOME_UNKNOWN' || CATALOGUE[code].status === 503) return UNAVAILABLE_RETRY_SECONDS
  const { retry_after_seconds: seconds } = details
  return code === 'RATE_LIMITED' && typeof seconds === 'number' ? seconds : null
}
