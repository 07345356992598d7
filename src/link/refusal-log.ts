import type { Socket } from 'node:net'
import type { Logger } from 'pino'

/** Whoever reaches the port can be refused as often as he likes: his log is not ours. */
const LINE_EVERY_MS = 10_000

/** Who looks whether a port is open, and leaves. */
const LEFT = 'ECONNRESET'

/** A line for a peer that was not let in or has to leave, with the number of those since the last line. */
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
