import type { Dispatcher, Pool } from 'undici'
import { RpcTransportError } from './errors.js'

/** An endpoint's HTTP answer, whatever its content. */
export interface HttpAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly text: string
}

interface HttpPost {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The limit for the whole exchange: the wait for a connection, headers and body. */
  readonly timeoutMs: number
}

/**
 * Posts without the streams with which undici's `request` wraps a body: for answers as small as a
 * node's they cost more than the exchange itself, and each send waits for it.
 * @throws RpcTransportError `unanswered` past the deadline; otherwise what undici throws
 */
export function exchange(pool: Pool, post: HttpPost): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { path, headers, body, timeoutMs } = post
    const handler = new AnswerReader(timeoutMs, resolve, reject)
    pool.dispatch({ method: 'POST', path, headers, body }, handler)
  })
}

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #timer: NodeJS.Timeout
  readonly #resolve: (answer: HttpAnswer) => void
  readonly #reject: (error: Error) => void
  #controller: Dispatcher.DispatchController | null = null
  /** Set once the deadline has passed. */
  #late: Error | null = null
  #status = 0
  #retryAfter: string | undefined
  #chunks: Buffer[] = []

  constructor(
    timeoutMs: number,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: Error) => void,
  ) {
    this.#resolve = resolve
    this.#reject = reject
    this.#timer = setTimeout(() => this.#giveUp(), timeoutMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#late !== null) controller.abort(this.#late)
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Informational answers come before the final one.
    this.#status = status
    const after = headers['retry-after']
    this.#retryAfter = Array.isArray(after) ? after[0] : after
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer)
    const text = Buffer.concat(this.#chunks).toString()
    this.#resolve({ status: this.#status, retryAfter: this.#retryAfter, text })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#timer)
    this.#reject(error)
  }

  #giveUp(): void {
    this.#late = new RpcTransportError('unanswered', 'timeout')
    this.#chunks = []
    this.#controller?.abort(this.#late)
    // A request that waits for a connection has nothing to abort yet.
    this.#reject(this.#late)
  }
}
