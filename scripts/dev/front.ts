import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * One address in front of several listeners on this machine: it leads to the first that answers. A process
 * that stands still is connected to by its kernel, so each is asked; what had been passed to one that does not
 * answer is cut off, so that callers ask again and are led to the next.
 */
export interface Front {
  readonly port: number
  /** How many bytes each was passed so far, in their order. */
  passed(): readonly number[]
  close(): Promise<void>
}

/** Asks one listener again and again whether it answers. */
export interface Check {
  /** @param closed the front is closed: the answer is no longer needed */
  answers(closed: AbortSignal): Promise<boolean>
  close(): void
}

const CHECK_EVERY_MS = 500

/** A listener, as it was when it was asked last. */
interface Place {
  readonly port: number
  readonly sockets: Set<Socket>
  isWell: boolean
  passed: number
}

/**
 * @param ports of the listeners, the preferred one first
 * @param port its own; 0: any that is free
 * @param checkOf makes the check of the listener at a port
 * @throws Error when the port is taken
 */
export async function layFront(
  ports: readonly number[],
  port: number,
  checkOf: (port: number) => Check,
): Promise<Front> {
  const places = ports.map(
    (at): Place => ({ port: at, sockets: new Set(), isWell: true, passed: 0 }),
  )
  const [preferred] = places
  if (preferred === undefined) throw new Error('there is a listener behind a front')
  const nears = new Set<Socket>()
  const closed = new AbortController()

  const server = createServer((near) => {
    // Where none answers, one that stands still may be the first to go on.
    const place = places.find(({ isWell }) => isWell) ?? preferred
    const far = connect(place.port, '127.0.0.1')
    nears.add(near)
    place.sockets.add(far)
    // A caller that tries again does not wait for the next check.
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
  const watching = places.map((place) => watch(place, checkOf(place.port), closed.signal))
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

async function watch(place: Place, check: Check, closed: AbortSignal): Promise<void> {
  while (!closed.aborted) {
    place.isWell = await check.answers(closed)
    if (!place.isWell) for (const socket of place.sockets) socket.destroy()
    await delay(CHECK_EVERY_MS, undefined, { signal: closed }).catch(() => undefined)
  }
  check.close()
}
