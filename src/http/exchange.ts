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
 * touched after an abort or twice, whatever answers later than the package's own callbacks is corked
 * and has an abort handler, and every exchange ends in exactly one `send` (or `refuse`, `fail`),
 * also after an abort; that call frees its place in the gate.
 */

/** Written to a caller of a stream who takes less than comes; past it the connection is closed. */
const STREAM_BYTES_BEHIND_MAX = 1024 * 1024
/** What metrics and logs call a request whose caller went away (nginx's convention). */
const STATUS_CALLER_GONE = 499

/** An answer that is written piece by piece; after an abort the pieces are dropped. */
export interface ReplyStream {
  /** False: the caller does not take it as fast; `onDrain` says when it has. */
  write(chunk: string | Uint8Array): boolean
  onDrain(notify: () => void): void
  /** Ends the exchange; called exactly once. */
  end(): void
  /** Closes the connection, which is an abort. */
  abort(): void
}

/** What all exchanges of a server share. */
export interface ExchangeContext {
  readonly gate: RequestGate
  readonly metrics: HttpMetrics
  readonly logger: Logger
  /** Told of each request; absent where nobody collects traces. */
  readonly traces?: { heard(route: string, requestId: string, traceparent: string): void }
  readonly writeHeaders: RoutedApp['writeHeaders']
  /** Whom requests are counted against where that goes by address; default: the peer. */
  readonly clientAddress?: (peer: string, forwardedFor: string) => string
}

/** RFC 9110, section 15.5.16: what a 415 of the coding names, and one of the type does not. */
const CODINGS_UNDERSTOOD: readonly Header[] = [['Accept-Encoding', 'identity']]

/** What a route sends back: all of an answer, or what HEAD asks for. */
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
  /** Answered in a later turn, when the parser has met what came behind the request and closed. */
  #defers = false
  #detached = false
  /** True while the package hands over a piece of the body: it has corked the socket itself. */
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
   * Serves one request in the route's own callback: `serve` answers, or starts what will. Above
   * the gate's bound the answer is `503 OVERLOADED` and `serve` is not called; nor is it when the
   * request is ambiguous about its end, which is `400 INVALID_REQUEST`, or its body is encoded,
   * which is `415 UNSUPPORTED_MEDIA_TYPE`.
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
      // An answer at once would let the parser go on to what may be hidden behind the request.
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
    // The package ends the process when a route returns with neither an answer nor a handler.
    if (!exchange.#sent) exchange.detach()
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get gate(): RequestGate {
    return this.#context.gate
  }

  /** Whom it is counted against where that goes by address; empty once its caller is gone. */
  clientAddress(): string {
    if (this.#aborted) return ''
    const peer = Buffer.from(this.#response.getRemoteAddressAsText()).toString()
    return this.#context.clientAddress?.(peer, this.#forwardedFor) ?? peer
  }

  /** The decision whose headers the answer carries. */
  meteredBy(decision: RateLimitDecision): void {
    this.#rateLimit = decision
  }

  /** Has `secret` wiped when the exchange is over. */
  wipeAfterwards(secret: Uint8Array): void {
    this.#secret = secret
  }

  /**
   * The package serves what came in the same piece of data behind an answered request, even one
   * that closes the connection; behind one that is not answered yet it closes at once.
   */
  #letNothingFollow(): void {
    this.#closes = true
    this.#defers = true
    this.detach()
  }

  /** Has the connection closed after the answer. */
  closeAfterwards(): void {
    this.#closes = true
  }

  /** Must be called before the route's own callback returns without an answer. */
  detach(): void {
    if (this.#detached) return
    this.#detached = true
    this.#response.onAborted(() => {
      this.#aborted = true
      for (const notify of this.#onAbort) notify()
    })
  }

  /**
   * Must be called in the route's own callback. A piece is gone when `take` returns; those of one
   * body come in order, the last, which may be empty, with `isLast`; none comes after an abort.
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

  /** `notify` is called at most once, when the caller goes away before the answer. */
  onAbort(notify: () => void): void {
    this.#onAbort.push(notify)
  }

  /** `notify`, of which there is one, is called with the answer: from then on no abort is told of. */
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

  /** `503 OVERLOADED`, made from parts: under overload it is most of what there is to do. */
  refuseOverloaded(): void {
    this.send(overloadedReply(this.requestId))
  }

  /** Answers for a handler that threw: its fault, or `INTERNAL` with nothing of the cause in it. */
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

  /** Answers piece by piece, instead of `send`; the exchange ends with the stream's `end`. */
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
    // Without arguments: given a length, this build waits for that many bytes and never ends.
    if (this.#form === 'head-only')
      response.writeHeader('Content-Length', `${Buffer.byteLength(reply.body)}`)
    if (closes) response.writeHeader('Connection', 'close')
    response.endWithoutBody()
  }

  /**
   * The headers of every answer in one text: the native adapter writes it by one call, the other
   * takes it apart. Nothing of a caller gets in but the request id, which has no line break.
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
