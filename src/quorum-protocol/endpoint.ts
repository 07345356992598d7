import { createConnection, Socket } from 'node:net'
import { connect } from 'node:tls'
import { CALL_TIMEOUT_MS } from './limits.js'

/** Another domain's address: on this machine, or on another one over TLS. */
export type Endpoint = UnixEndpoint | TlsEndpoint

interface UnixEndpoint {
  readonly path: string
}

export interface TlsEndpoint extends TlsPlace {
  /** Alternative addresses of the same domain; one of all serves at a time. */
  readonly others?: readonly TlsPlace[]
  /** The name that the peer's certificate must have; null for the host. */
  readonly serverName: string | null
  /** Returns the present credentials for each connection, so that a renewed certificate is used. */
  readonly credentials: () => TlsCredentials
}

interface TlsPlace {
  readonly host: string
  readonly port: number
}

/** PEM. */
export interface TlsCredentials {
  readonly cert: Buffer
  readonly key: Buffer
  /** The authorities that may have issued the peer's certificate. */
  readonly ca: Buffer
}

/** The minimum TLS version of the link on both sides; no older peers exist. */
export const TLS_VERSION_MIN = 'TLSv1.3'

/**
 * The silence after which a peer counts as gone. The client pings every two seconds, and a call
 * waits at most `CALL_TIMEOUT_MS`.
 */
const SILENT_MS_MAX = 2 * CALL_TIMEOUT_MS

/**
 * Opens a connection. Every error is reported by the socket's events.
 * @param opened called once frames may be written; over TLS the peer's certificate has been
 * verified, but this side's may still be refused
 */
export function openSocket(endpoint: Endpoint, opened: () => void): Socket {
  if ('path' in endpoint) return createConnection(endpoint.path, opened)
  try {
    return openTls(endpoint, opened)
  } catch (error) {
    return new Socket().destroy(error instanceof Error ? error : new Error(String(error)))
  }
}

/** Returns how many addresses can be tried. */
export function placesOf(endpoint: Endpoint): number {
  return 'path' in endpoint ? 1 : 1 + (endpoint.others?.length ?? 0)
}

/** @param turn counts attempts; each uses the next address */
export function placeAt(endpoint: Endpoint, turn: number): Endpoint {
  if ('path' in endpoint) return endpoint
  const place = endpoint.others?.[(turn % placesOf(endpoint)) - 1]
  return place === undefined ? endpoint : { ...endpoint, host: place.host, port: place.port }
}

/** Node gives only a code, without a message, when none of a name's addresses answers. */
export function reasonOf(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : error.name)
}

function openTls({ host, port, serverName, credentials }: TlsEndpoint, opened: () => void): Socket {
  const socket = connect(
    {
      ...{ host, port, ...credentials(), minVersion: TLS_VERSION_MIN },
      // Verification stays on, whatever the environment says (NODE_TLS_REJECT_UNAUTHORIZED).
      rejectUnauthorized: true,
      ...(serverName === null ? {} : { servername: serverName }),
    },
    () => {
      // A frame is written in one piece, so waiting for more data would only delay it.
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
