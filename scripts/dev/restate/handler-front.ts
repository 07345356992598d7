import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * One address in front of several handlers, of which Restate can be told one alone: it leads to the
 * first that answers. What a load balancer is on machines of one's own, with the same checks
 * (src/journal/README.md, "Several handlers"). A handler that stands still is connected to by
 * its kernel: so each is asked, and what had been passed to one that does not answer is cut off, so that
 * Restate asks again, and is led to the next.
 */
export interface HandlerFront {
  readonly port: number
  /** How many bytes each was passed so far, in their order. */
  passed(): readonly number[]
  close(): Promise<void>
}

const CHECK_EVERY_MS = 500
/** A handler computes for milliseconds: one that takes longer is gone, or as good as gone. */
const ANSWER_MS_MAX = 1_000
const HTTP_OK = 200

/** One of the handlers, as it was when it was asked last. */
interface Place {
  readonly port: number
  readonly sockets: Set<Socket>
  isWell: boolean
  passed: number
}

/**
 * @param handlers their ports, on this machine, the preferred one first
 * @param port its own; 0: any that is free
 */
export async function layHandlerFront(
  handlers: readonly number[],
  port: number,
): Promise<HandlerFront> {
  const places = handlers.map(
    (at): Place => ({ port: at, sockets: new Set(), isWell: true, passed: 0 }),
  )
  const [preferred] = places
  if (preferred === undefined) throw new Error('there is a handler behind a front')
  const nears = new Set<Socket>()
  const closed = new AbortController()

  const server = createServer((near) => {
    // Where none answers, one that stands still may be the first to go on.
    const place = places.find(({ isWell }) => isWell) ?? preferred
    const far = connect(place.port, '127.0.0.1')
    nears.add(near)
    place.sockets.add(far)
    // So that whoever asks again needs not wait for the next check.
    const refused = () => {
      place.isWell = false
    }
    far.once('error', refused).once('connect', () => far.off('error', refused))
    near.on('data', (piece) => {
      place.passed += piece.length
    })
    near.pipe(far)
    far.pipe(near)
    for (const socket of [near, far]) socket.on('error', () => undefined)
    near.once('close', () => {
      nears.delete(near)
      far.destroy()
    })
    far.once('close', () => {
      place.sockets.delete(far)
      near.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
  const watching = places.map((place) => watch(place, closed.signal))
  return {
    port: (server.address() as AddressInfo).port,
    passed: () => places.map(({ passed }) => passed),
    async close() {
      closed.abort()
      const ended = new Promise((resolve) => server.close(resolve))
      for (const near of nears) near.destroy()
      await Promise.all([...watching, ended])
    },
  }
}

async function watch(place: Place, closed: AbortSignal): Promise<void> {
  let session: ClientHttp2Session | null = null
  while (!closed.aborted) {
    session ??= sessionTo(place.port)
    place.isWell = await answers(session, closed)
    if (!place.isWell) {
      session.destroy()
      session = null
      for (const socket of place.sockets) socket.destroy()
    }
    await delay(CHECK_EVERY_MS, undefined, { signal: closed }).catch(() => undefined)
  }
  session?.destroy()
}

function sessionTo(port: number): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  // Of each request of it the outcome says the same.
  session.on('error', () => undefined)
  return session
}

/** Whether it answers what asks for its health, which needs no signature of the cluster's. */
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
