import { Agent, type AgentOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import type { TlsPems } from '../config/tls-files.js'
import { TLS_VERSION_MIN } from '../quorum-protocol/endpoint.js'

/** Of one that waits for the next request; the other side keeps it for longer. */
const IDLE_MS = 30_000

/** HTTP to other machines by their links, each connection with the certificate that is in place by then. */
export class LinkAgent extends Agent {
  readonly #credentials: () => TlsPems

  /** @param connectionsMax to one machine; more requests wait */
  constructor(credentials: () => TlsPems, connectionsMax: number) {
    const options: AgentOptions = { keepAlive: true, maxSockets: connectionsMax, timeout: IDLE_MS }
    super(options)
    this.#credentials = credentials
  }

  /** @throws as the files of the certificate are read */
  override createConnection({ host, port }: { host?: string; port?: number | string }): Duplex {
    return connect({
      ...{ host, port: Number(port), ...this.#credentials(), minVersion: TLS_VERSION_MIN },
      // Whatever the environment says (NODE_TLS_REJECT_UNAUTHORIZED).
      rejectUnauthorized: true,
    })
  }
}
