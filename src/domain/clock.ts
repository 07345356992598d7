/**
 * When a machine's clock differs from the newest blocks by more than this, no call that moves value
 * is started. NTP keeps a clock within milliseconds, blocks come every 12 seconds at the slowest,
 * and a node may lag by some of them; a clock that was set by hand or came back wrong from a
 * suspension is off by more.
 */
export const CLOCK_ERROR_MAX_MS = 120_000
