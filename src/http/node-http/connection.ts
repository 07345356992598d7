import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Fault } from '../../errors/fault.js'
import { LINGER_MS, PIPELINED_MAX } from './bounds.js'
import { NodeRequest } from './node-request.js'
import { NodeResponse } from './node-response.js'
import { refusalOfError, refusalOfHead, refusalText } from './refusals.js'
import type { Router } from './router.js'

interface Arrival {
  readonly message: IncomingMessage
  readonly response: ServerResponse
}

/**
 * One connection. Its requests are served one after another, each once the previous answer has been
 * sent, and none behind an answer that closes. Owns the waiting requests, and the answer to bytes
 * that are not a request.
 */
export class Connection {
  readonly #socket: Socket
  readonly #router: Router
  readonly #remoteAddress: string
  readonly #waiting: Arrival[] = []
  #current: NodeResponse | null = null
  /**
   * The refusal of what follows the requests so far, which cannot be read. Sent once those are
   * answered.
   */
  #refusal: Fault | null = null
  #closing = false

  constructor(socket: Socket, router: Router) {
    this.#socket = socket
    this.#router = router
    // No longer available once the socket is closed.
    this.#remoteAddress = socket.remoteAddress ?? ''
    socket.on('close', () => {
      this.#closing = true
      this.#waiting.length = 0
      this.#current?.abort()
    })
  }

  take(message: IncomingMessage, response: ServerResponse): void {
    if (this.#closing || this.#refusal !== null) return
    if (this.#current === null) this.#serve(message, response)
    else if (this.#waiting.length < PIPELINED_MAX) this.#waiting.push({ message, response })
    else this.#socket.destroy()
  }

  /** The parser or the system reported an error. */
  broke(error: NodeJS.ErrnoException): void {
    if (this.#closing || this.#refusal !== null) return
    const refusal = refusalOfError(error)
    const last = this.#waiting.at(-1)
    if (refusal === null) this.#socket.destroy()
    else if (last !== undefined) {
      if (!last.message.complete) this.#waiting.pop()
      this.#refusal = refusal
    } else if (this.#current === null) this.#refuse(refusal)
    else if (this.#current.ended || this.#current.received) this.#refusal = refusal
    else if (this.#current.headSent) this.#socket.destroy()
    else {
      this.#current.abort()
      this.#refuse(refusal)
    }
  }

  /** Nothing was transferred for a while, which is fine while a request is at work. */
  stalled(): void {
    if (this.#current === null || this.#socket.writableLength > 0) this.#socket.destroy()
  }

  #serve(message: IncomingMessage, response: ServerResponse): void {
    const request = new NodeRequest(message)
    const refusal = refusalOfHead(message, request)
    const match = this.#router.find(message.method ?? '', request.path)
    if (refusal !== null) this.#refuse(refusal)
    else if (match === null) this.#socket.destroy()
    else {
      const current = new NodeResponse(message, response, this.#remoteAddress)
      this.#current = current
      response.on('finish', () => this.#left(current))
      request.matched(match.parameters)
      match.serve(current, request)
    }
  }

  /** Its answer has been handed to the system's buffers. */
  #left(response: NodeResponse): void {
    this.#current = null
    if (this.#closing) return
    const next = this.#waiting.shift()
    if (response.closes) this.#close()
    else if (next !== undefined) this.#serve(next.message, next.response)
    else if (this.#refusal !== null) this.#refuse(this.#refusal)
  }

  #refuse(refusal: Fault): void {
    if (this.#socket.writable) this.#socket.write(refusalText(refusal))
    this.#close()
  }

  #close(): void {
    this.#closing = true
    this.#waiting.length = 0
    this.#socket.end()
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref()
  }
}
