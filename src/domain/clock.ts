/**
 * By how much a machine's clock may differ from what the newest blocks say before nothing that
 * moves value is begun. NTP keeps a clock within milliseconds, blocks come every 12 seconds at the
 * slowest, and a node may lag by some of them; a clock that was set by hand or came back wrong
 * from a suspension is off by more.
 */
export const CLOCK_ERROR_MAX_MS = 120_000
