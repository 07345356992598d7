import { createConnection, Socket } from 'node:net'
import { connect } from 'node:tls'
import { CALL_TIMEOUT_MS } from './limits.js'

/** Where another domain is reached: on this machine, or on another one by TLS. */
export type Endpoint = UnixEndpoint | TlsEndpoint

export interface UnixEndpoint {
  readonly path: string
}

export interface TlsEndpoint extends TlsPlace {
  /** Where the same domain may be instead: of them and the first, one serves at a time. */
  readonly others?: readonly TlsPlace[]
  /** That the peer's certificate has to bear; null: the host. */
  readonly serverName: string | null
  /** As they are now: asked for at each connection, so that a renewed certificate counts. */
  readonly credentials: () => TlsCredentials
}

export interface TlsPlace {
  readonly host: string
  readonly port: number
}

/** PEM. */
export interface TlsCredentials {
  readonly cert: Buffer
  readonly key: Buffer
  /** The one authority, or those, that the peer's certificate may be of. */
  readonly ca: Buffer
}

/** Of the link, either side: what both speak, and neither ever had to speak less. */
export const TLS_VERSION_MIN = 'TLSv1.3'

/**
 * A machine or a network that is gone says nothing. Both ends hear of each other every two seconds
 * (the client's pings), and a call is not waited for longer than `CALL_TIMEOUT_MS`.
 */
const SILENT_MS_MAX = 2 * CALL_TIMEOUT_MS

/**
 * Whatever goes wrong, the socket says so by its events.
 * @param opened once frames may be written; over TLS the peer's certificate is verified by then, and this
 *   side's may still be refused
 */
export function openSocket(endpoint: Endpoint, opened: () => void): Socket {
  if ('path' in endpoint) return createConnection(endpoint.path, opened)
  try {
    return openTls(endpoint, opened)
  } catch (error) {
    return new Socket().destroy(error instanceof Error ? error : new Error(String(error)))
  }
}

/** How many places there are to try. */
export function placesOf(endpoint: Endpoint): number {
  return 'path' in endpoint ? 1 : 1 + (endpoint.others?.length ?? 0)
}

/** @param turn counts attempts: each is at the place after the one before */
export function placeAt(endpoint: Endpoint, turn: number): Endpoint {
  if ('path' in endpoint) return endpoint
  const place = endpoint.others?.[(turn % placesOf(endpoint)) - 1]
  return place === undefined ? endpoint : { ...endpoint, host: place.host, port: place.port }
}

/** Of a name with several addresses, none of which answers, Node says a code and no words. */
export function reasonOf(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : error.name)
}

function openTls({ host, port, serverName, credentials }: TlsEndpoint, opened: () => void): Socket {
  const socket = connect(
    {
      ...{ host, port, ...credentials(), minVersion: TLS_VERSION_MIN },
      // Whatever the environment says (NODE_TLS_REJECT_UNAUTHORIZED).
      rejectUnauthorized: true,
      ...(serverName === null ? {} : { servername: serverName }),
    },
    () => {
      // A frame is written whole: to wait for more to send with it would only delay it.
      socket.setNoDelay(true)
      socket.setTimeout(SILENT_MS_MAX)
      opened()
    },
  )
  socket.setTimeout(CALL_TIMEOUT_MS, () =>
    socket.destroy(new Error(`nothing heard from ${host}:${port}`)),
  )
  return socket
}
