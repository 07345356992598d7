/**
 * The number of calls per request for an endpoint. Providers accept 3, 10 or 100, none announces
 * its limit, and a gateway may change it; so the size is learnt. Pure state.
 */
export interface BatchSize {
  /** At least 1. */
  now(): number
  /** Notes that a request with this many calls got no usable answer. */
  failed(calls: number): void
  succeeded(calls: number): void
}

/** The number of full requests in a row before a larger one is tried. */
const PATIENCE_MIN = 16
/** Each failed try doubles the patience: a fixed limit then costs one request in this many. */
const PATIENCE_MAX = 4_096

export function createBatchSize(callsMax: number): BatchSize {
  let size = callsMax
  let streak = 0
  let patience = PATIENCE_MIN
  return {
    now: () => size,
    failed(calls) {
      streak = 0
      const half = Math.max(1, calls >> 1)
      if (calls < 2 || half >= size) return
      size = half
      patience = Math.min(PATIENCE_MAX, patience * 2)
    },
    succeeded(calls) {
      if (calls < size) return
      streak++
      if (streak < patience) return
      streak = 0
      if (size === callsMax) patience = PATIENCE_MIN
      else size = Math.min(callsMax, size * 2)
    },
  }
}
