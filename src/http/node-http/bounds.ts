/** What one connection may use of the node:http adapter. */

/**
 * Request line and headers together; node:http's own default, and what gateways commonly accept.
 */
export const HEADER_BYTES_MAX = 16 * 1024
/**
 * The same on a link between nodes. A node forwards any head that it accepted, with the caller's
 * address added, and uWebSockets.js accepts heads of up to 512 KiB, which it reads at once.
 */
export const LINK_HEADER_BYTES_MAX = 512 * 1024 + HEADER_BYTES_MAX
/** The same as Apache. A request to this service has ten, some more behind gateways. */
export const HEADERS_MAX = 100
/** Requests parsed behind one that is not answered yet; a connection with more is closed. */
export const PIPELINED_MAX = 256
/** Bytes of a stream that its caller has not taken; beyond it the connection is closed. */
export const STREAM_BYTES_WAITING_MAX = 1024 * 1024
/** How long a refused request is still read. Closing at once could lose the refusal. */
export const LINGER_MS = 1_000

/** How long a connection may take, in ms. */
export interface Patience {
  /**
   * For request line and headers, counted from the start of the connection or the previous answer.
   */
  readonly headersMs: number
  /** For a whole request. */
  readonly requestMs: number
  /** Idle time without another request. */
  readonly keepAliveMs: number
  /** For the next byte of its answer to be taken. */
  readonly stalledMs: number
  /** How late the first two may be noticed. */
  readonly checkedMs: number
}

export const PATIENCE: Patience = {
  // The same as uWebSockets.js.
  headersMs: 10_000,
  // The longest body at the 16 KiB a second that uWebSockets.js requires, with a margin.
  requestMs: 20_000,
  // Longer than gateways keep connections (60 s), so that they close first and no request is lost.
  keepAliveMs: 72_000,
  stalledMs: 30_000,
  checkedMs: 1_000,
}
