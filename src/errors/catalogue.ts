import { BASE_CHAIN_ID, CHAIN_COUNT } from '../domain/chains.js'

/**
 * The one catalogue of error codes. A row is what a client may rely on: the HTTP status, the
 * default public sentence, and whether the same request can succeed later without a change.
 * Source: CONTRACT.md, "Errors".
 */
interface CatalogueRow {
  readonly status: number
  /** One sentence a person can act on; a fault may carry a more precise one. */
  readonly message: string
  /** True when waiting and repeating the same request can help. */
  readonly retryable: boolean
}

export const CATALOGUE = {
  INVALID_REQUEST: row(400, 'The request is malformed; see details for each offending path.'),
  CHAIN_NOT_SUPPORTED: row(
    400,
    `The chain is not one of the ${CHAIN_COUNT} supported chains, so no API key can have it.`,
  ),
  ROUTER_NOT_AVAILABLE: row(
    400,
    'Sponsored calls need the Router contract, which is not deployed on this chain; pick a chain with has_router true.',
  ),
  GAS_SWAP_NOT_SUPPORTED: row(
    400,
    `gas_swap is supported on Base (chain id ${BASE_CHAIN_ID}) only.`,
  ),
  UNAUTHENTICATED: row(401, 'Send a well-formed API key in the X-Api-Key header.'),
  INVALID_KEY: row(401, 'The API key is unknown, revoked, or belongs to another environment.'),
  INVALID_TOKEN: row(401, 'Send a valid, unexpired console token in the Authorization header.'),
  PERMISSION_DENIED: row(403, 'This API key may only read; use a key with trade permission.'),
  AUTHORIZATION_REQUIRED: row(
    409,
    'A passkey or P-256 authorizer of the user must confirm this change; repeat it with the proof.',
  ),
  AUTHORIZATION_REFUSED: row(
    403,
    'The proof does not confirm this change; repeat the request without it for a new challenge.',
  ),
  CHAIN_NOT_ALLOWED: row(403, 'This API key is not allowed on this chain.'),
  LIMIT_EXCEEDED: row(403, 'The request would exceed a spend cap of this API key.'),
  POLICY_DENIED: row(403, 'The policy of this API key does not let this call through.'),
  ADDRESS_BLOCKED: row(403, 'An address in the request is on a sanctions or risk list.'),
  FROZEN: row(
    403,
    'The key, its sub-wallet, its user or the whole service is frozen: nothing new is signed until the user lifts it.',
  ),
  NOT_FOUND: row(404, 'There is nothing here under that name.'),
  METHOD_NOT_ALLOWED: row(405, 'This path does not support this method.'),
  IDEMPOTENCY_IN_PROGRESS: row(
    409,
    'A request with this Idempotency-Key is still running; repeat it to get its answer.',
    true,
  ),
  DUPLICATE_SUSPECTED: row(
    409,
    'The same call was sent moments ago and is not final yet; send an Idempotency-Key if both are wanted.',
  ),
  REQUEST_TIMEOUT: row(
    408,
    'The request body came more slowly than 16 KiB a second; nothing was done, and the connection is closed.',
    true,
  ),
  PAYLOAD_TOO_LARGE: row(413, 'The request body is larger than 256 KiB.'),
  UNSUPPORTED_MEDIA_TYPE: row(
    415,
    'Send the body as application/json, without a Content-Encoding.',
  ),
  IDEMPOTENCY_KEY_REUSED: row(422, 'This Idempotency-Key was used with another request body.'),
  INSUFFICIENT_FUNDS: row(
    422,
    'The sub-wallet cannot cover the value and the worst-case gas of this transaction.',
  ),
  SIMULATION_REVERTED: row(422, 'The call would revert on chain.'),
  PRICE_UNAVAILABLE: row(
    422,
    'What would leave the wallet cannot be valued in USD, and this API key does not allow that.',
  ),
  CALLDATA_UNDECODABLE: row(422, 'The calldata cannot be decoded, so it cannot be screened.'),
  QUOTA_EXCEEDED: row(
    422,
    'The user has as many of these as the quota allows; remove one, or ask the operator for more.',
  ),
  SLIPPAGE_EXCEEDED: row(422, 'The price moved past the accepted slippage; ask for a new quote.'),
  SWAP_LOSS_EXCEEDED: row(
    422,
    'By our prices the least output of this call is worth too much less than its input. Lower slippage_bps, swap less, or ask the owner to raise max_swap_loss_bps.',
  ),
  RATE_LIMITED: row(
    429,
    'Too many requests with this API key; wait for Retry-After seconds.',
    true,
  ),
  HEADERS_TOO_LARGE: row(431, 'The request line and headers are over 16 KiB, or more than 100.'),
  INTERNAL: row(500, 'The service failed to answer; quote the request id to its operator.', true),
  CHAIN_REJECTED: row(502, 'The chain refused the transaction for good; nothing was sent.'),
  SCREENING_UNAVAILABLE: row(
    503,
    'Screening lists or providers are unavailable, so writes are stopped; reads go on.',
    true,
  ),
  COSIGNER_UNAVAILABLE: row(
    503,
    'The identity provider or the quorum signer is unreachable, so writes are stopped; reads go on.',
    true,
  ),
  CHAIN_UNAVAILABLE: row(503, 'No RPC endpoint of this chain answers.', true),
  WRITES_STOPPED: row(
    503,
    'The service has stopped writes for the reason in details.reason; nothing was done, and reads go on.',
    true,
  ),
  RECORD_DAMAGED: row(
    503,
    'A stored record that this request needs is damaged, so it is not used; nothing was done, and the operator has to restore it.',
  ),
  OUTCOME_UNKNOWN: row(
    504,
    'The outcome is unknown. Check the transaction before retrying; retrying with the same Idempotency-Key never sends twice.',
    true,
  ),
  OVERLOADED: row(503, 'The service is at capacity; nothing was done.', true),
} as const satisfies Record<string, CatalogueRow>

export type ErrorCode = keyof typeof CATALOGUE

function row(status: number, message: string, retryable = false): CatalogueRow {
  return { status, message, retryable }
}
