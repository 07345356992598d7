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
 * Lets services on other machines in: by TLS, with a certificate of the one authority, and no other way.
 * What they may then ask for is said by whoever serves them.
 */
export interface LinkListener {
  /** Lets nobody in any more; who is stays. */
  stopListening(): void
  /** Ends all that are let in. */
  close(): Promise<void>
}

export interface LinkOptions extends PlaceBounds {
  readonly listen: HostPort
  readonly files: TlsFiles
  /** For the log: who is let in. */
  readonly whom: string
  /**
   * Of peers that are not through their handshake. With one more the oldest is ended, so that a crowd
   * of silent ones keeps nobody out: whoever goes on with the handshake is through within milliseconds.
   */
  readonly handshakesMax: number
  /** Peers that say nothing for longer are gone; null: whoever serves them ends what is silent. */
  readonly silentMsMax: number | null
}

const HANDSHAKE_TIMEOUT_MS = 5_000
const SILENT_PROBE_MS = 10_000
/**
 * @param serve for each peer that is let in
 * @throws Error for files that are of no use, and for an address that is not this machine's or is taken
 */
export async function listenOnLink(
  { listen, files, whom, handshakesMax, silentMsMax, ...bounds }: LinkOptions,
  serve: (socket: Socket) => void,
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
): Promise<LinkListener> {
  const served = createPlaces(bounds)
  const unfinished = new Map<string, Socket>()
  const refused = createRefusalLog(log, 'the link let a peer not in')
  const crowdedOut = createRefusalLog(log, 'the link ended a connection for a newer one')
  const server = createServer({
    ...{ requestCert: true, rejectUnauthorized: true },
    ...{ handshakeTimeout: HANDSHAKE_TIMEOUT_MS, noDelay: true },
    // A machine that is gone amid a request or a stream says nothing.
    ...{ keepAlive: true, keepAliveInitialDelay: SILENT_PROBE_MS },
  })

  /** @returns when the certificate ends @throws as `readTlsFiles` */
  function takeCertificate(): string {
    const credentials = readTlsFiles(files)
    server.setSecureContext({
      ...credentials,
      minVersion: TLS_VERSION_MIN,
      // A session that is taken up again would be let in by the certificate of its first time.
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
    // A handshake whose time is over is told of, and left as it is.
    socket.destroy()
  })

  const unfollow = followFiles([files.certificate, files.key, files.authority], {
    take: takeCertificate,
    taken: (endsAt) => log.info({ endsAt }, 'the link has taken up a renewed certificate'),
    refused: (reason) =>
      log.error({ reason }, 'the link keeps the certificate it has: the one in place is of no use'),
  })
  try {
    const endsAt = takeCertificate()
    await listening(server, listen)
    log.info({ ...listen, endsAt }, `${whom} are served`)
  } catch (error) {
    unfollow()
    throw error
  }
  // Of one connection that could not be taken; the others go on.
  server.on('error', (error) => log.error({ err: error }, 'the link took no connection'))
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

/** The same of a connection and of the TLS in it. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
