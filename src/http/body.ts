import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'
import { type ComingBody, leavePace, watchPace } from './body-pace.js'
import type { Exchange } from './exchange.js'
import type { RequestHead } from './request-head.js'

/**
 * Reads request bodies within bounds. Start it in the route's callback, because chunks that arrive
 * without a reader are lost.
 */

/** CONTRACT.md, "Conventions": 256 KiB. */
export const BODY_BYTES_MAX = 256 * 1024
/**
 * If a body of unknown length is too long, this much is read and dropped before the answer. Closing
 * the connection while the caller still writes resets it, and the answer may be lost.
 */
const DISCARDED_BYTES_MAX = 1024 * 1024
const INITIAL_CAPACITY_BYTES = 4_096
const LENGTH_DIGITS_MAX = 15
const ZERO = 48
const ONLY_ZEROS = /^0*$/
const PLAIN_JSON = 'application/json'
const JSON_CONTENT_TYPE = /^application\/json[\t ]*(?:;|$)/i

export type BodyResult = Result<Buffer>

/** The bodies that a route accepts. An empty body is always accepted; the schema judges it. */
type AcceptedContent = 'json' | 'any'

/**
 * Charges for a body of unknown length: the cost of this many bytes, less what was already paid.
 * Returns a fault if the caller cannot pay. It is charged as the body arrives, because until its
 * end the body holds memory that others need, and an endless one would hold it for nothing.
 */
export type PayForBody = (bytes: number) => Fault | null

const PAID: PayForBody = () => null

/** What a request's head tells about its body. */
export interface BodyHead {
  /** At most BODY_BYTES_MAX; null if the length is unknown. */
  readonly declaredBytes: number | null
  readonly isTooLong: boolean
  /** False if the head declares that there is no body. */
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

/**
 * Null if the text is not a number, or longer than any length. Parsed by hand, because every write
 * passes here.
 */
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
 * Calls `done` exactly once, perhaps before it returns. `done` gets the body, which may be
 * empty and is valid only during the call, or a fault: `PAYLOAD_TOO_LARGE`,
 * `UNSUPPORTED_MEDIA_TYPE`, `OVERLOADED`, `REQUEST_TIMEOUT` if it arrives too slowly, or the fault
 * of `pay`. After an abort or an answer it gets any fault, so that the exchange can end.
 */
export function readBody(
  exchange: Exchange,
  head: BodyHead,
  accepted: AcceptedContent,
  done: (body: BodyResult) => void,
  pay: PayForBody = PAID,
): void {
  if (head.isTooLong) {
    // The parser drops what still arrives, so the connection stays usable.
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
  // A route that answers before the end of the body no longer needs it.
  exchange.onAnswer(giveUp)
  exchange.receive((chunk, isLast) => reader.take(chunk, isLast))
  watchPace(reader)
}

function isJson(contentType: string): boolean {
  return contentType === PLAIN_JSON || JSON_CONTENT_TYPE.test(contentType)
}

const NOTHING = Buffer.alloc(0)

class BodyReader implements ComingBody {
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

  get receivedBytes(): number {
    return this.#length + this.#discarded
  }

  tooSlow(): void {
    if (this.#finished) return
    this.#exchange.closeAfterwards()
    this.#finish(this.#overflow ?? refuse(fault('REQUEST_TIMEOUT')))
  }

  /** Called at every answer, nearly always after the end of the body. */
  giveUp(): void {
    if (!this.#finished) this.#finish(refuse(fault('INVALID_REQUEST')))
  }

  #finish(result: BodyResult): void {
    this.#finished = true
    leavePace(this)
    try {
      this.#done(result)
    } finally {
      this.#free()
    }
  }

  /** Grows by doubling. In a list of chunks, one-byte chunks would cost a hundred bytes each. */
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
 * `readBody` for routes that await something first. The promise never rejects, and the body in it
 * is a copy.
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
