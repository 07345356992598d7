import { constants } from 'node:crypto'
import type { Socket } from 'node:net'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import type { Logger } from 'pino'
import {
  certificateEndMs,
  type HostPort,
  readTlsFiles,
  type TlsFiles,
} from '../config/tls-files.js'
import { isoTime } from '../domain/iso-time.js'
import { TLS_VERSION_MIN } from '../quorum-protocol/endpoint.js'
import { followFiles } from './follow-files.js'
import { createPlaces, type PlaceBounds } from './places.js'
import { createRefusalLog } from './refusal-log.js'

/**
 * Admits services on other machines over TLS, only with a certificate by the configured authority.
 * The server behind the listener decides what they may request.
 */
export interface LinkListener {
  /** Admits no new peers; admitted ones stay connected. */
  stopListening(): void
  /** Ends every admitted connection. */
  close(): Promise<void>
}

interface LinkOptions extends PlaceBounds {
  readonly listen: HostPort
  readonly files: TlsFiles
  /** Names the admitted peers in the log. */
  readonly whom: string
  /**
   * The bound of peers in their handshake. Above it the oldest is ended, so that many silent ones
   * keep nobody out: an active peer completes its handshake within milliseconds.
   */
  readonly handshakesMax: number
  /** Ends peers that are silent for longer; null when the server ends silent peers itself. */
  readonly silentMsMax: number | null
}

const HANDSHAKE_TIMEOUT_MS = 5_000
const SILENT_PROBE_MS = 10_000
/**
 * @param serve called for each admitted peer
 * @throws Error for unusable files, and for an address that does not belong to this machine or is
 * taken
 */
export async function listenOnLink(
  { listen, files, whom, handshakesMax, silentMsMax, ...bounds }: LinkOptions,
  serve: (socket: Socket) => void,
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
): Promise<LinkListener> {
  const served = createPlaces(bounds)
  const unfinished = new Map<string, Socket>()
  const refused = createRefusalLog(log, 'the link refused a peer')
  const crowdedOut = createRefusalLog(log, 'the link ended a connection for a newer one')
  const server = createServer({
    ...{ requestCert: true, rejectUnauthorized: true },
    ...{ handshakeTimeout: HANDSHAKE_TIMEOUT_MS, noDelay: true },
    // A machine that vanished during a request or a stream sends nothing.
    ...{ keepAlive: true, keepAliveInitialDelay: SILENT_PROBE_MS },
  })

  /**
   * @returns when the certificate ends
   * @throws as `readTlsFiles`
   */
  function takeCertificate(): string {
    const credentials = readTlsFiles(files)
    server.setSecureContext({
      ...credentials,
      minVersion: TLS_VERSION_MIN,
      // A resumed session would be admitted by the certificate of its first connection.
      secureOptions: constants.SSL_OP_NO_TICKET,
    })
    return isoTime(certificateEndMs(credentials.cert))
  }

  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    unfinished.set(peer, socket)
    socket.once('close', () => {
      if (unfinished.get(peer) === socket) unfinished.delete(peer)
    })
    if (unfinished.size <= handshakesMax) return
    const [oldest] = unfinished.values()
    oldest?.destroy()
  })

  server.on('secureConnection', (socket: TLSSocket) => {
    unfinished.delete(peerOf(socket))
    const certificate = socket.getPeerCertificate().fingerprint256
    const oldest = served.enter(certificate, socket)
    if (oldest !== null) {
      crowdedOut('too many connections', oldest)
      oldest.destroy()
    }
    socket.on('close', () => served.leave(certificate, socket))
    socket.on('error', () => socket.destroy())
    if (silentMsMax !== null) socket.setTimeout(silentMsMax, () => socket.destroy())
    serve(socket)
  })

  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    refused(String(socket.authorizationError ?? error.code), socket)
    // A handshake that times out is reported but not closed by Node.
    socket.destroy()
  })

  const unfollow = followFiles([files.certificate, files.key, files.authority], {
    take: takeCertificate,
    taken: (endsAt) => log.info({ endsAt }, 'the link uses a renewed certificate'),
    refused: (reason) =>
      log.error(
        { reason },
        'the installed certificate is unusable: the link keeps the previous one',
      ),
  })
  try {
    const endsAt = takeCertificate()
    await listening(server, listen)
    log.info({ ...listen, endsAt }, `${whom} are served`)
  } catch (error) {
    unfollow()
    throw error
  }
  // Affects one connection; the others continue.
  server.on('error', (error) => log.error({ err: error }, 'the link could not accept a connection'))
  const closed = new Promise<void>((resolve) => server.once('close', resolve))
  let isListening = true
  const stopListening = () => {
    if (isListening) server.close()
    isListening = false
  }
  return {
    stopListening,
    close() {
      unfollow()
      for (const socket of [...served.all(), ...unfinished.values()]) socket.destroy()
      stopListening()
      return closed
    },
  }
}

function listening(server: Server, { host, port }: HostPort): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Names a peer the same way for a connection and for the TLS in it. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
