import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpResponse } from '../app.js'
import { STREAM_BYTES_WAITING_MAX } from './bounds.js'

/**
 * One answer. The head is sent with the first piece of the body, so that a small answer is one
 * write. node:http refuses names and values with a line break.
 */
export class NodeResponse implements HttpResponse {
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #remoteAddress: string
  readonly #headers: string[] = []
  #statusLine = '200 OK'
  #notify: (() => void) | null = null
  #closes = false
  #ended = false
  #aborted = false

  constructor(message: IncomingMessage, response: ServerResponse, remoteAddress: string) {
    this.#message = message
    this.#response = response
    this.#remoteAddress = remoteAddress
  }

  /** True if the connection closes after this answer. */
  get closes(): boolean {
    return this.#closes
  }

  get ended(): boolean {
    return this.#ended
  }

  get headSent(): boolean {
    return this.#response.headersSent
  }

  /** True once the request has been parsed to its end. */
  get received(): boolean {
    return this.#message.complete
  }

  abort(): void {
    if (this.#aborted || this.#ended) return
    this.#aborted = true
    this.#notify?.()
  }

  writeStatus(line: string): this {
    this.#statusLine = line
    return this
  }

  writeHeader(name: string, value: string): this {
    if (name === 'Connection' && value === 'close') this.#closes = true
    this.#headers.push(name, value)
    return this
  }

  write(chunk: string | Uint8Array): boolean {
    if (!this.headSent) this.#writeHead()
    const isFirst = this.#response.writableLength === 0
    const isTaken = this.#response.write(chunk)
    if (this.#response.writableLength > STREAM_BYTES_WAITING_MAX) this.close()
    // Otherwise a `drain` follows.
    return isTaken || isFirst
  }

  onWritable(take: () => boolean): void {
    this.#response.on('drain', take)
  }

  end(body: string | Uint8Array = '', closeConnection = false): void {
    this.#ended = true
    if (closeConnection) this.#closes = true
    if (!this.headSent) {
      this.#headers.push('Content-Length', `${Buffer.byteLength(body)}`)
      if (closeConnection) this.#headers.push('Connection', 'close')
      this.#writeHead()
    }
    this.#response.end(body)
  }

  endWithoutBody(): void {
    this.#ended = true
    this.#writeHead()
    this.#response.end()
  }

  close(): void {
    this.#message.socket.destroy()
  }

  cork(work: () => void): void {
    work()
  }

  onAborted(notify: () => void): void {
    this.#notify = notify
  }

  onData(take: (piece: ArrayBuffer, isLast: boolean) => void): void {
    // The parser has checked declared lengths; deriving the end from them saves a copy and a turn.
    let left = Number(this.#message.headers['content-length'] ?? Number.NaN)
    let isOver = false
    this.#message.on('data', (chunk: Buffer) => {
      if (this.#aborted) return
      left -= chunk.byteLength
      isOver = left === 0
      const { buffer, byteOffset, byteLength } = chunk
      take(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer, isOver)
    })
    this.#message.on('end', () => {
      if (!isOver && !this.#aborted) take(new ArrayBuffer(0), true)
    })
  }

  getRemoteAddressAsText(): ArrayBuffer {
    return new TextEncoder().encode(this.#remoteAddress).buffer as ArrayBuffer
  }

  #writeHead(): void {
    const status = Number(this.#statusLine.slice(0, 3))
    this.#response.writeHead(status, this.#statusLine.slice(4), this.#headers)
  }
}
