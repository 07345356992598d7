import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { type Check, type Front, layFront } from '../front.js'

/**
 * One address in front of several handlers, of which Restate can be told one alone. What a load balancer is
 * on machines of one's own, with the same checks (scripts/systemd/haproxy.cfg).
 */
export type HandlerFront = Front

/** A handler computes for milliseconds: one that takes longer counts as gone. */
const ANSWER_MS_MAX = 1_000
const HTTP_OK = 200

/**
 * @param handlers their ports on this machine, the preferred one first
 * @param port the front's own port; 0 takes a free one
 */
export function layHandlerFront(handlers: readonly number[], port: number): Promise<HandlerFront> {
  return layFront(handlers, port, healthOf)
}

/** By one session, which is opened again after each failure. */
function healthOf(port: number): Check {
  let session: ClientHttp2Session | null = null
  const close = () => {
    session?.destroy()
    session = null
  }
  return {
    close,
    async answers(closed) {
      session ??= sessionTo(port)
      const isWell = await answers(session, closed)
      if (!isWell) close()
      return isWell
    },
  }
}

function sessionTo(port: number): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  // The outcome of each request reports the same error.
  session.on('error', () => undefined)
  return session
}

/** Polls a health path, which needs no signature of the cluster. */
function answers(session: ClientHttp2Session, closed: AbortSignal): Promise<boolean> {
  if (session.destroyed || session.closed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(false), ANSWER_MS_MAX)
    const stop = () => done(false)
    closed.addEventListener('abort', stop)
    const stream = session.request({ ':path': '/health' })
    function done(isWell: boolean): void {
      clearTimeout(timer)
      closed.removeEventListener('abort', stop)
      resolve(isWell)
    }
    stream.once('error', () => done(false))
    stream.once('close', () => done(false))
    stream.once('response', (headers) => done(headers[':status'] === HTTP_OK))
    stream.resume().end()
  })
}
