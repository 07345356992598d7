import type { Logger } from 'pino'
import {
  type RateLimitDecision,
  rateLimitHeader,
  rateLimitPolicyHeader,
} from '../auth/rate-limit.js'
import { type Fault, FaultError, fault } from '../errors/fault.js'
import type { HttpRequest, HttpResponse, RoutedApp } from './app.js'
import type { HttpMetrics } from './metrics.js'
import {
  faultReply,
  type Header,
  NO_HEADERS,
  overloadedReply,
  type Reply,
  type ReplyHead,
  turnedAwayReply,
} from './reply.js'
import type { RequestGate } from './request-gate.js'
import { ambiguousFraming, encodedBody, type RequestHead, readRequestHead } from './request-head.js'
import { requestIdOf } from './request-id.js'
import { statusLine } from './status-line.js'

/**
 * One request and its one answer. Keeps the rules of `RoutedApp` in one place: no response is
 * touched after an abort or twice, every answer outside the package's own callbacks is corked and
 * has an abort handler, and every exchange ends in exactly one `send` (or `refuse`, `fail`), even
 * after an abort. That call releases its place in the gate.
 */

/**
 * Bytes written to a stream whose caller takes them too slowly; beyond it the connection is closed.
 */
const STREAM_BYTES_BEHIND_MAX = 1024 * 1024
/** The status in metrics and logs of a request whose caller disconnected (nginx's convention). */
const STATUS_CALLER_GONE = 499

/** An answer that is written in pieces; after an abort the pieces are dropped. */
export interface ReplyStream {
  /** Returns false if the caller takes data more slowly; `onDrain` tells when it has caught up. */
  write(chunk: string | Uint8Array): boolean
  onDrain(notify: () => void): void
  /** Ends the exchange; call it exactly once. */
  end(): void
  /** Closes the connection, which counts as an abort. */
  abort(): void
}

/** What all exchanges of a server share. */
export interface ExchangeContext {
  readonly gate: RequestGate
  readonly metrics: HttpMetrics
  readonly logger: Logger
  /** Called for each request; absent if no traces are collected. */
  readonly traces?: { heard(route: string, requestId: string, traceparent: string): void }
  readonly writeHeaders: RoutedApp['writeHeaders']
  /** Returns the address that limits by address count; defaults to the peer's. */
  readonly clientAddress?: (peer: string, forwardedFor: string) => string
}

/**
 * RFC 9110, section 15.5.16: a 415 for the content coding names it, one for the content type does
 * not.
 */
const CODINGS_UNDERSTOOD: readonly Header[] = [['Accept-Encoding', 'identity']]

/** What a route answers: the whole answer, or only its head for HEAD. */
export type AnswerForm = 'whole' | 'head-only'

export class Exchange {
  readonly requestId: string
  /** The operation's name, for metrics and logs; never a path with ids in it. */
  readonly operation: string
  readonly #context: ExchangeContext
  readonly #response: HttpResponse
  readonly #form: AnswerForm
  readonly #forwardedFor: string
  readonly #startedAtMs = performance.now()
  readonly #onAbort: (() => void)[] = []
  #onAnswer: (() => void) | null = null
  #rateLimit: RateLimitDecision | null = null
  #secret: Uint8Array | null = null
  #closes = false
  /**
   * Whether the answer waits for a later turn, when the parser has met what follows the request and
   * has closed.
   */
  #defers = false
  #detached = false
  /**
   * True while the package delivers a piece of the body, because it has corked the socket itself.
   */
  #corked = false
  #aborted = false
  #sent = false

  private constructor(
    context: ExchangeContext,
    operation: string,
    response: HttpResponse,
    { xRequestId: requestId, xForwardedFor }: Readonly<RequestHead>,
    form: AnswerForm,
  ) {
    this.#forwardedFor = xForwardedFor
    this.#context = context
    this.operation = operation
    this.#response = response
    this.#form = form
    this.requestId = requestIdOf(requestId)
  }

  /**
   * Serves one request in the route's callback: `serve` answers, or starts what will. It is not
   * called above the gate's bound (`503 OVERLOADED`), if the request's end is ambiguous (`400
   * INVALID_REQUEST`), or if its body is encoded (`415 UNSUPPORTED_MEDIA_TYPE`).
   */
  static serve(
    context: ExchangeContext,
    operation: string,
    response: HttpResponse,
    request: HttpRequest,
    form: AnswerForm,
    serve: (exchange: Exchange, head: Readonly<RequestHead>) => void,
  ): void {
    const head = readRequestHead(request)
    const { framing } = head
    const exchange = new Exchange(context, operation, response, head, form)
    context.traces?.heard(operation, exchange.requestId, head.traceparent)
    if (!context.gate.enter()) {
      // An immediate answer would let the parser continue to what may be hidden behind the request.
      if (framing !== 'length') response.close()
      else exchange.#write(turnedAwayReply(exchange.requestId, context.gate.inFlightMax))
      return
    }
    if (framing !== 'length') exchange.#letNothingFollow()
    try {
      if (framing === 'ambiguous') exchange.refuse(ambiguousFraming())
      else if (head.isEncoded) exchange.refuse(encodedBody(), CODINGS_UNDERSTOOD)
      else serve(exchange, head)
    } catch (error) {
      exchange.fail(error)
    }
    // The package ends the process if a route returns with neither an answer nor an abort handler.
    if (!exchange.#sent) exchange.detach()
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get gate(): RequestGate {
    return this.#context.gate
  }

  /** The address that limits count; empty once the caller has disconnected. */
  clientAddress(): string {
    if (this.#aborted) return ''
    const peer = Buffer.from(this.#response.getRemoteAddressAsText()).toString()
    return this.#context.clientAddress?.(peer, this.#forwardedFor) ?? peer
  }

  /** The answer carries the headers of this decision. */
  meteredBy(decision: RateLimitDecision): void {
    this.#rateLimit = decision
  }

  /** Wipes `secret` when the exchange is over. */
  wipeAfterwards(secret: Uint8Array): void {
    this.#secret = secret
  }

  /**
   * The package also serves what arrived in the same piece of data behind an answered request, even
   * if the answer closes the connection; behind an unanswered one it closes at once.
   */
  #letNothingFollow(): void {
    this.#closes = true
    this.#defers = true
    this.detach()
  }

  /** Closes the connection after the answer. */
  closeAfterwards(): void {
    this.#closes = true
  }

  /** Call it before the route's callback returns without an answer. */
  detach(): void {
    if (this.#detached) return
    this.#detached = true
    this.#response.onAborted(() => {
      this.#aborted = true
      for (const notify of this.#onAbort) notify()
    })
  }

  /**
   * Call it in the route's callback. A piece is invalid once `take` returns. Pieces of a body come
   * in order; the last, which may be empty, has `isLast`; none comes after an abort.
   */
  receive(take: (piece: ArrayBuffer, isLast: boolean) => void): void {
    this.detach()
    this.#response.onData((piece, isLast) => {
      this.#corked = true
      try {
        take(piece, isLast)
      } finally {
        this.#corked = false
      }
    })
  }

  /** Calls `notify` at most once, if the caller disconnects before the answer. */
  onAbort(notify: () => void): void {
    this.#onAbort.push(notify)
  }

  /** Calls the one `notify` with the answer; later aborts are not reported. */
  onAnswer(notify: () => void): void {
    this.#onAnswer = notify
  }

  /** Answers with a value as JSON. */
  sendJson(status: number, value: unknown, headers: readonly Header[] = NO_HEADERS): void {
    this.send({ status, body: JSON.stringify(value), headers })
  }

  refuse(refusal: Fault, headers: readonly Header[] = NO_HEADERS): void {
    if (refusal.internal !== undefined) {
      this.#context.logger.warn(
        { requestId: this.requestId, operation: this.operation, code: refusal.code },
        refusal.internal,
      )
    }
    this.send(faultReply(refusal, this.requestId, headers))
  }

  /** `503 OVERLOADED`, assembled from parts, because under overload it is most of the work. */
  refuseOverloaded(): void {
    this.send(overloadedReply(this.requestId))
  }

  /**
   * Answers for a handler that threw: with its fault, or with `INTERNAL` and nothing about the
   * cause.
   */
  fail(error: unknown): void {
    if (error instanceof FaultError) {
      this.refuse(error.fault)
      return
    }
    this.#context.logger.error(
      { requestId: this.requestId, operation: this.operation, err: error },
      'request failed',
    )
    this.refuse(fault('INTERNAL'))
  }

  send(reply: Reply): void {
    if (this.#sent) {
      this.#context.logger.error(
        { requestId: this.requestId, operation: this.operation },
        'a request was answered twice; the second answer was dropped',
      )
      return
    }
    this.#sent = true
    this.#secret?.fill(0)
    this.#context.gate.leave()
    this.#onAnswer?.()
    if (this.#defers) setImmediate(() => this.#answer(reply))
    else this.#answer(reply)
  }

  #answer(reply: Reply): void {
    if (this.#aborted) this.#report(STATUS_CALLER_GONE)
    else this.#write(reply)
  }

  /** Answers in pieces instead of with `send`; the exchange ends with the stream's `end`. */
  stream(head: ReplyHead): ReplyStream {
    if (this.#sent) throw new Error('the exchange has been answered')
    this.#sent = true
    this.detach()
    const closes = this.#closes || this.#context.gate.draining
    if (!this.#aborted) this.#response.cork(() => this.#writeHead(head))
    let behindBytes = 0
    return {
      write: (chunk) => {
        if (this.#aborted) return true
        let isTaken = true
        this.#response.cork(() => {
          isTaken = this.#response.write(chunk)
        })
        behindBytes = isTaken ? 0 : behindBytes + Buffer.byteLength(chunk)
        if (behindBytes > STREAM_BYTES_BEHIND_MAX) this.#response.close()
        return isTaken
      },
      onDrain: (notify) => {
        if (this.#aborted) return
        this.#response.onWritable(() => {
          notify()
          return true
        })
      },
      abort: () => {
        if (!this.#aborted) this.#response.close()
      },
      end: () => {
        this.#secret?.fill(0)
        this.#context.gate.leave()
        if (!this.#aborted) this.#response.cork(() => this.#response.end(undefined, closes))
        this.#report(this.#aborted ? STATUS_CALLER_GONE : head.status)
      },
    }
  }

  #write(reply: Reply): void {
    if (this.#detached && !this.#corked) this.#response.cork(() => this.#writeCorked(reply))
    else this.#writeCorked(reply)
    this.#report(reply.status)
  }

  #writeCorked(reply: Reply): void {
    const response = this.#response
    this.#writeHead(reply)
    const closes = this.#closes || this.#context.gate.draining
    if (this.#form === 'whole' && reply.status !== 204 && reply.status !== 304) {
      response.end(reply.body, closes)
      return
    }
    // Called without arguments: with a length, this build waits for that many bytes and never ends.
    if (this.#form === 'head-only')
      response.writeHeader('Content-Length', `${Buffer.byteLength(reply.body)}`)
    if (closes) response.writeHeader('Connection', 'close')
    response.endWithoutBody()
  }

  /**
   * Writes the headers of every answer as one text, which the native adapter writes in one call and
   * the other one takes apart. The only text of a caller in it is the request id, which has no line
   * break.
   */
  #writeHead(reply: ReplyHead): void {
    const { contentType = 'application/json', cacheControl = 'no-store' } = reply
    const decision = this.#rateLimit
    let rest = `${contentType}\r\nX-Request-Id: ${this.requestId}\r\nCache-Control: ${cacheControl}\r\nX-Content-Type-Options: nosniff`
    if (decision !== null) {
      rest += `\r\nRateLimit: ${rateLimitHeader(decision)}\r\nRateLimit-Policy: ${rateLimitPolicyHeader(decision.policy)}`
    }
    const response = this.#response
    if (reply.status !== 200) response.writeStatus(statusLine(reply.status))
    this.#context.writeHeaders(response, 'Content-Type', rest)
    for (const [name, value] of reply.headers ?? NO_HEADERS) response.writeHeader(name, value)
  }

  #report(status: number): void {
    const { logger, metrics } = this.#context
    const elapsedMs = performance.now() - this.#startedAtMs
    metrics.observe(this.operation, status, elapsedMs)
    if (logger.isLevelEnabled('debug')) {
      logger.debug(
        { requestId: this.requestId, operation: this.operation, status, elapsedMs },
        'request',
      )
    }
  }
}
