import type { Socket } from 'node:net'
import type { Logger } from 'pino'

/**
 * The log is rate-limited, because a peer that reaches the port can cause refusals without limit.
 */
const LINE_EVERY_MS = 10_000

/** The error of a port scan, which connects and leaves. */
const LEFT = 'ECONNRESET'

/** Logs refused or ended peers, with the number of them since the previous line. */
export function createRefusalLog(
  log: Pick<Logger, 'warn'>,
  message: string,
): (reason: string, socket: Socket) => void {
  let quietUntilMs = 0
  let unsaid = 0
  return (reason, { remoteAddress = null }) => {
    if (reason === LEFT) return
    const nowMs = performance.now()
    if (nowMs < quietUntilMs) {
      unsaid++
      return
    }
    log.warn({ reason, from: remoteAddress, others: unsaid }, message)
    quietUntilMs = nowMs + LINE_EVERY_MS
    unsaid = 0
  }
}
