/** Bounds on which the three domains agree. */

/** 32 intents share one P-256 signature per side; a larger batch would only add latency. */
export const BATCH_INTENTS_MAX = 32
/** One batch at the identity provider while another is at the quorum signer. */
export const BATCHES_IN_FLIGHT = 2
/**
 * With this many full batches behind them, the three domains have work while disks flush: 3,380
 * signatures a second on two cores instead of 2,560. A batch that is not full would gain nothing by
 * leaving earlier.
 */
export const FULL_BATCHES_IN_FLIGHT_MAX = 8
/** 128 KiB of calldata (CONTRACT.md, "Conventions"), and room for the envelope. */
export const PAYLOAD_BYTES_MAX = 132 * 1024
/**
 * The bound of an authorizer's proof: room for authenticator data with extensions, client data with
 * a long origin, and an RSA signature.
 */
export const PROOF_BYTES_MAX = 4_096
/** A batch is closed early at this size, so that a frame stays well below the next bound. */
export const BATCH_BYTES_MAX = 1024 * 1024
/** A longer frame ends the connection before it is read. */
export const FRAME_BYTES_MAX = 2 * 1024 * 1024
/** The longest lifetime of an intent, fixed by the protocol. */
export const INTENT_LIFETIME_MS_MAX = 30_000
/**
 * The latest deadline of a Router intent (AgentRouter, MAX_LIFETIME), with room for clock
 * differences.
 */
export const ROUTER_DEADLINE_AHEAD_SECONDS_MAX = 610
/** A peer that does not answer within this time counts as gone. */
export const CALL_TIMEOUT_MS = 5_000
