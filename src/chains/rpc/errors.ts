/**
 * What can go wrong between a caller and a node, in two kinds: the node answered with an error
 * (`RpcCallError`), or no usable answer came (`RpcTransportError`). Neither ever carries the
 * endpoint's URL, because operators put API keys into paths.
 */

/** Longest error text that is kept; nodes echo whole transactions into theirs. */
const TEXT_LENGTH_MAX = 300

export function boundedText(text: string): string {
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text
}

/** The node's own JSON-RPC error object. */
export class RpcCallError extends Error {
  /** JSON-RPC code; 0 when the node left it out. */
  readonly code: number
  /** `error.data` as it came: revert bytes for `eth_call`, anything else elsewhere. */
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
 * - `refused`: the endpoint turned it away before doing anything (429, 503, 4xx).
 * - `unanswered`: it was written and no usable answer came, so the node may have acted on it.
 */
export type TransportPhase = 'unsent' | 'refused' | 'unanswered'

export class RpcTransportError extends Error {
  readonly phase: TransportPhase
  /** The endpoint's own wish (429, 503), in milliseconds; null when it named none. */
  readonly retryAfterMs: number | null
  /** HTTP status, or null when there was none. */
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

/** A node's answer that does not have the shape its method promises. */
export class RpcShapeError extends Error {
  constructor(what: string) {
    super(`malformed answer: ${boundedText(what)}`)
    this.name = 'RpcShapeError'
  }
}
