/** Bounds that the three domains agree on. */

/** 32 intents share one P-256 signature per side; beyond that only latency grows. */
export const BATCH_INTENTS_MAX = 32
/** One batch at the user side while another is at the quorum signer. */
export const BATCHES_IN_FLIGHT = 2
/**
 * With as many full ones behind them the three domains have work while disks flush: 3,380
 * signatures a second on two cores instead of 2,560. A batch that is not full would gain nothing
 * by leaving earlier.
 */
export const FULL_BATCHES_IN_FLIGHT_MAX = 8
/** 128 KiB of calldata (CONTRACT.md, "Conventions") and what an envelope needs besides. */
export const PAYLOAD_BYTES_MAX = 132 * 1024
/** A batch is closed early at this size, so that one frame stays well below the next bound. */
export const BATCH_BYTES_MAX = 1024 * 1024
/** A longer frame ends the connection before it is read. */
export const FRAME_BYTES_MAX = 2 * 1024 * 1024
/** The longest that an intent may live; facts of the protocol. */
export const INTENT_LIFETIME_MS_MAX = 30_000
/** A Router intent's deadline (AgentRouter, MAX_LIFETIME), with room for clocks that differ. */
export const ROUTER_DEADLINE_AHEAD_SECONDS_MAX = 610
/** A peer that does not answer within this time is taken for gone. */
export const CALL_TIMEOUT_MS = 5_000
