/**
 * Finds bodies that arrive too slowly. uWebSockets.js closes such a connection without an answer when nothing arrives
 * for ten seconds; a refusal a little earlier tells the caller why.
 */

/** A request body that is still arriving. */
export interface ComingBody {
  /** Bytes received so far. */
  readonly receivedBytes: number
  /** Refuses the request; called at most once. */
  tooSlow(): void
}

/** uWebSockets.js checks its timeouts every four seconds, so its ten seconds may be only eight. */
const PACE_WINDOW_MS = 6_000
/** The rate that uWebSockets.js requires. */
const BYTES_PER_SECOND_MIN = 16 * 1024
const CHECK_INTERVAL_MS = 1_000
const WINDOW_BYTES_MIN = (BYTES_PER_SECOND_MIN * PACE_WINDOW_MS) / 1_000
const WINDOW_CHECKS = PACE_WINDOW_MS / CHECK_INTERVAL_MS

interface Pace {
  checks: number
  bytes: number
}

const coming = new Map<ComingBody, Pace | null>()
/**
 * The body that began last. Nearly every body is complete before the next request begins, so it never enters the
 * map; entering and leaving it cost 3.6 % of an MCP read.
 */
let newest: ComingBody | null = null
let timer: NodeJS.Timeout | null = null

export function watchPace(body: ComingBody): void {
  if (newest !== null) coming.set(newest, null)
  newest = body
  if (timer !== null) return
  timer = setInterval(check, CHECK_INTERVAL_MS)
  timer.unref()
}

/** Ends the watch: the body is complete, or its request has ended. */
export function leavePace(body: ComingBody): void {
  if (newest === body) newest = null
  else coming.delete(body)
}

function check(): void {
  if (newest !== null) coming.set(newest, null)
  newest = null
  if (coming.size === 0 && timer !== null) {
    clearInterval(timer)
    timer = null
  }
  for (const [body, pace] of [...coming]) {
    const { receivedBytes } = body
    if (pace === null) coming.set(body, { checks: 1, bytes: 0 })
    else if (++pace.checks > WINDOW_CHECKS) {
      if (receivedBytes - pace.bytes < WINDOW_BYTES_MIN) {
        coming.delete(body)
        body.tooSlow()
      } else coming.set(body, { checks: 0, bytes: receivedBytes })
    }
  }
}
