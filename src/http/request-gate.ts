/**
 * Bounds what the front end holds at once: requests in flight and bytes of bodies being read.
 * Beyond the bounds the answer is `503 OVERLOADED`, with nothing done. Also owns the draining
 * state.
 */

/** Enough for the deepest useful queue behind the front end; each request costs about 2 kB. */
export const IN_FLIGHT_REQUESTS_MAX = 10_000
/** 10,000 bodies of 256 KiB would be 2.5 GB; real bodies have a few hundred bytes. */
export const BODY_BYTES_IN_MEMORY_MAX = 128 * 1024 * 1024

export interface RequestGate {
  /** True if the request may proceed; pair each true with one `leave`. */
  enter(): boolean
  leave(): void
  /** True if `bytes` more may be buffered; pair each true with one `releaseBytes`. */
  reserveBytes(bytes: number): boolean
  releaseBytes(bytes: number): void
  readonly inFlight: number
  readonly inFlightMax: number
  /** True from the start of the shutdown on; every answer then closes its connection. */
  readonly draining: boolean
  /**
   * Starts draining, and admits nothing after that is over. Resolves to the number of requests
   * still in flight: 0, or more if `timeoutMs` passed first.
   */
  drain(timeoutMs: number): Promise<number>
}

export function createRequestGate(limits: {
  readonly inFlightMax: number
  readonly bodyBytesMax: number
}): RequestGate {
  let inFlight = 0
  let bodyBytes = 0
  let draining = false
  /** The drain is over and the handlers are being closed. */
  let closed = false
  const onIdle = new Set<() => void>()

  return {
    enter() {
      if (closed || inFlight >= limits.inFlightMax) return false
      inFlight++
      return true
    },
    leave() {
      inFlight--
      if (inFlight > 0 || onIdle.size === 0) return
      for (const resume of onIdle) resume()
      onIdle.clear()
    },
    reserveBytes(bytes) {
      if (bodyBytes + bytes > limits.bodyBytesMax) return false
      bodyBytes += bytes
      return true
    },
    releaseBytes(bytes) {
      bodyBytes -= bytes
    },
    get inFlight() {
      return inFlight
    },
    inFlightMax: limits.inFlightMax,
    get draining() {
      return draining
    },
    drain(timeoutMs) {
      draining = true
      if (inFlight === 0) {
        closed = true
        return Promise.resolve(0)
      }
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer)
          onIdle.delete(done)
          closed = true
          resolve(inFlight)
        }
        const timer = setTimeout(done, timeoutMs)
        onIdle.add(done)
      })
    },
  }
}
