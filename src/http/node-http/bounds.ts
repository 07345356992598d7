/** What one connection may ask of the node:http adapter. */

/** Request line and headers together; node:http's own default, and what gateways commonly take. */
export const HEADER_BYTES_MAX = 16 * 1024
/**
 * The same by a link between nodes: a node passes on whatever head it took, with the caller's address added,
 * and uWebSockets.js takes one as long as what it reads at once, 512 KiB.
 */
export const LINK_HEADER_BYTES_MAX = 512 * 1024 + HEADER_BYTES_MAX
/** As Apache has it. A request of ours has ten, some more behind gateways. */
export const HEADERS_MAX = 100
/** Requests parsed behind one that is not answered yet; a connection with more is closed. */
export const PIPELINED_MAX = 256
/** Of a stream's pieces, what its caller has not taken yet; past it the connection is closed. */
export const STREAM_BYTES_WAITING_MAX = 1024 * 1024
/** How long what still comes is read after a refusal: to close on it could eat the refusal. */
export const LINGER_MS = 1_000

/** How long a connection may take, ms. */
export interface Patience {
  /** For request line and headers, counted from the connection's start or the answer before. */
  readonly headersMs: number
  /** For a whole request. */
  readonly requestMs: number
  /** Without another request. */
  readonly keepAliveMs: number
  /** For the next byte of its answer to be taken. */
  readonly stalledMs: number
  /** How late the first two may be noticed. */
  readonly checkedMs: number
}

export const PATIENCE: Patience = {
  // As uWebSockets.js has it.
  headersMs: 10_000,
  // The longest body at the 16 KiB a second that uWebSockets.js asks for, and some.
  requestMs: 20_000,
  // Longer than gateways keep theirs (60 s), so that they, and not we, close: no request is lost.
  keepAliveMs: 72_000,
  stalledMs: 30_000,
  checkedMs: 1_000,
}
