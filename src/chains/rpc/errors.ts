/**
 * The two kinds of failure between a caller and a node: the node answered with an error
 * (`RpcCallError`), or no usable answer came (`RpcTransportError`). Neither ever carries the
 * endpoint's URL, because operators put API keys into paths.
 */

/** The longest error text that is kept; nodes echo whole transactions in theirs. */
const TEXT_LENGTH_MAX = 300

export function boundedText(text: string): string {
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text
}

/** The node's own JSON-RPC error object. */
export class RpcCallError extends Error {
  /** JSON-RPC code; 0 when the node left it out. */
  readonly code: number
  /** `error.data` unchanged: revert bytes for `eth_call`, anything for other methods. */
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(boundedText(message))
    this.name = 'RpcCallError'
    this.code = code
    this.data = data
  }
}

/**
 * - `unsent`: the request did not leave this machine (refused, no route, no DNS answer).
 * - `refused`: the endpoint rejected it before doing anything (429, 503, 4xx).
 * - `unanswered`: it was written and no usable answer came, so the node may have acted on it.
 */
type TransportPhase = 'unsent' | 'refused' | 'unanswered'

export class RpcTransportError extends Error {
  readonly phase: TransportPhase
  /**
   * The pause that the endpoint requested (429, 503), in milliseconds; null when it requested none.
   */
  readonly retryAfterMs: number | null
  /** The HTTP status; null without an HTTP answer. */
  readonly status: number | null

  constructor(
    phase: TransportPhase,
    message: string,
    at: { status?: number; retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(boundedText(message), { cause: at.cause })
    this.name = 'RpcTransportError'
    this.phase = phase
    this.status = at.status ?? null
    this.retryAfterMs = at.retryAfterMs ?? null
  }
}

/** A node's answer that does not have the shape that its method promises. */
export class RpcShapeError extends Error {
  constructor(what: string) {
    super(`malformed answer: ${boundedText(what)}`)
    this.name = 'RpcShapeError'
  }
}

/** A call to an address with code returned no data. */
export class RpcEmptyError extends Error {
  constructor() {
    super('the result has no data')
    this.name = 'RpcEmptyError'
  }
}
