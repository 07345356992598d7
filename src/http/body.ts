import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'
import type { Exchange } from './exchange.js'
import type { RequestHead } from './request-head.js'

/**
 * Reads request bodies within bounds. Must be started in the route's own callback, since chunks
 * that come without a reader are lost.
 */

/** CONTRACT.md, "Conventions": 256 KiB. */
export const BODY_BYTES_MAX = 256 * 1024
/**
 * Of a body that is too long and does not say how long, this much is read and dropped before the
 * answer: closing on a caller who still writes resets the connection and may eat the answer.
 */
const DISCARDED_BYTES_MAX = 1024 * 1024
const INITIAL_CAPACITY_BYTES = 4_096
const LENGTH_DIGITS_MAX = 15
const ZERO = 48
const ONLY_ZEROS = /^0*$/
const PLAIN_JSON = 'application/json'
const JSON_CONTENT_TYPE = /^application\/json[\t ]*(?:;|$)/i

export type BodyResult = Result<Buffer>

/** Which bodies a route takes; an empty body passes either way, for the schema to judge. */
export type AcceptedContent = 'json' | 'any'

/**
 * What so many bytes of a body cost that did not say how long it is, less what it paid already; the
 * fault where its caller does not have that. Taken as it comes: until its end it has room that others
 * want, and one that never ends would have that for nothing.
 */
export type PayForBody = (bytes: number) => Fault | null

const PAID: PayForBody = () => null

/** What the head of a request says of its body. */
export interface BodyHead {
  /** At most BODY_BYTES_MAX; null when the length is not said. */
  readonly declaredBytes: number | null
  readonly isTooLong: boolean
  /** False when the head says that none comes. */
  readonly hasBody: boolean
  /** Empty when absent. */
  readonly contentType: string
}

export function readBodyHead({
  contentLength: lengthText,
  contentType,
  transferEncoding,
}: Readonly<RequestHead>): BodyHead {
  const bytes = readDecimal(lengthText)
  return {
    declaredBytes: bytes === null ? null : Math.min(bytes, BODY_BYTES_MAX),
    isTooLong: bytes !== null && bytes > BODY_BYTES_MAX,
    hasBody: (bytes === null ? !ONLY_ZEROS.test(lengthText) : bytes > 0) || transferEncoding !== '',
    contentType,
  }
}

/** Null for what is no number, or longer than any length; by hand, since each write comes by. */
function readDecimal(text: string): number | null {
  if (text.length === 0 || text.length > LENGTH_DIGITS_MAX) return null
  let value = 0
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return null
    value = value * 10 + digit
  }
  return value
}

/**
 * Calls `done` exactly once, perhaps before it returns: with the body (empty when there is none;
 * valid during the call only), with `PAYLOAD_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE` or
 * `OVERLOADED`, with what `pay` refused it with, or after an abort or an answer with any fault at all,
 * so that the exchange can end.
 */
export function readBody(
  exchange: Exchange,
  head: BodyHead,
  accepted: AcceptedContent,
  done: (body: BodyResult) => void,
  pay: PayForBody = PAID,
): void {
  if (head.isTooLong) {
    // The parser goes on dropping what still comes, so the connection stays usable.
    done(refuse(fault('PAYLOAD_TOO_LARGE')))
    return
  }
  if (head.hasBody && accepted === 'json' && !isJson(head.contentType)) {
    done(refuse(fault('UNSUPPORTED_MEDIA_TYPE')))
    return
  }
  const reader = new BodyReader(exchange, done, pay)
  const giveUp = () => reader.giveUp()
  exchange.onAbort(giveUp)
  // Of a route that answers before the end of a body: nobody waits for it any more.
  exchange.onAnswer(giveUp)
  exchange.receive((chunk, isLast) => reader.take(chunk, isLast))
}

function isJson(contentType: string): boolean {
  return contentType === PLAIN_JSON || JSON_CONTENT_TYPE.test(contentType)
}

const NOTHING = Buffer.alloc(0)

class BodyReader {
  readonly #exchange: Exchange
  readonly #done: (body: BodyResult) => void
  readonly #pay: PayForBody
  #buffer = NOTHING
  #length = 0
  #discarded = 0
  #overflow: BodyResult | null = null
  #finished = false

  constructor(exchange: Exchange, done: (body: BodyResult) => void, pay: PayForBody) {
    this.#exchange = exchange
    this.#done = done
    this.#pay = pay
  }

  take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#finished) return
    if (this.#overflow !== null) {
      this.#discard(chunk.byteLength, isLast, this.#overflow)
      return
    }
    if (this.#length + chunk.byteLength > BODY_BYTES_MAX) {
      this.#discard(chunk.byteLength, isLast, refuse(fault('PAYLOAD_TOO_LARGE')))
      return
    }
    const unpaid = this.#pay(this.#length + chunk.byteLength)
    if (unpaid !== null) {
      this.#discard(chunk.byteLength, isLast, refuse(unpaid))
      return
    }
    if (isLast && this.#length === 0) {
      this.#finish(ok(Buffer.from(chunk)))
      return
    }
    if (!this.#append(new Uint8Array(chunk))) {
      this.#discard(chunk.byteLength, isLast, refuse(fault('OVERLOADED')))
      return
    }
    if (isLast) this.#finish(ok(this.#buffer.subarray(0, this.#length)))
  }

  /** Told of every answer, nearly always after the end of the body. */
  giveUp(): void {
    if (!this.#finished) this.#finish(refuse(fault('INVALID_REQUEST')))
  }

  #finish(result: BodyResult): void {
    this.#finished = true
    try {
      this.#done(result)
    } finally {
      this.#free()
    }
  }

  /** Grows by doubling: a list of chunks would let one-byte chunks cost a hundred bytes each. */
  #append(chunk: Uint8Array): boolean {
    const needed = this.#length + chunk.byteLength
    if (needed > this.#buffer.byteLength) {
      const doubled = Math.max(INITIAL_CAPACITY_BYTES, this.#buffer.byteLength * 2)
      const capacity = Math.min(BODY_BYTES_MAX, Math.max(needed, doubled))
      if (!this.#exchange.gate.reserveBytes(capacity)) return false
      const grown = Buffer.alloc(capacity)
      grown.set(this.#buffer.subarray(0, this.#length))
      this.#exchange.gate.releaseBytes(this.#buffer.byteLength)
      this.#buffer = grown
    }
    this.#buffer.set(chunk, this.#length)
    this.#length = needed
    return true
  }

  #discard(bytes: number, isLast: boolean, overflow: BodyResult): void {
    this.#overflow = overflow
    this.#free()
    this.#discarded += bytes
    if (!isLast && this.#discarded <= DISCARDED_BYTES_MAX) return
    if (!isLast) this.#exchange.closeAfterwards()
    this.#finish(overflow)
  }

  #free(): void {
    this.#exchange.gate.releaseBytes(this.#buffer.byteLength)
    this.#buffer = NOTHING
    this.#length = 0
  }
}

/**
 * `readBody` for routes that await first. The promise never rejects; the body in it is a copy of
 * its own.
 */
export function readBodyLater(
  exchange: Exchange,
  head: BodyHead,
  accepted: AcceptedContent,
): Promise<BodyResult> {
  return new Promise((resolve) => {
    readBody(exchange, head, accepted, (body) => {
      resolve(body.ok ? ok(Buffer.from(body.value)) : body)
    })
  })
}
