import { Agent, type AgentOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import type { TlsPems } from '../config/tls-files.js'
import { TLS_VERSION_MIN } from '../quorum-protocol/endpoint.js'

/** How long a connection waits for the next request; the other side keeps it longer. */
const IDLE_MS = 30_000
/** After this time without data, a machine that vanished during a request is noticed. */
const SILENT_MS = 10_000

/**
 * HTTP to other machines over their links; each connection uses the certificate installed at that
 * time.
 */
export class LinkAgent extends Agent {
  readonly #credentials: () => TlsPems
  /** The last usable credentials: during a renewal the files may not match. */
  #last: TlsPems | null = null

  constructor(credentials: () => TlsPems) {
    const options: AgentOptions = { keepAlive: true, timeout: IDLE_MS }
    super(options)
    this.#credentials = credentials
  }

  /** Never throws: an unusable certificate means that no connection is made. */
  override createConnection(
    { host, port }: { host?: string; port?: number | string },
    done: (error: Error | null, socket: Duplex) => void = () => undefined,
  ): Duplex | undefined {
    try {
      return connect({
        ...{ host, port: Number(port), ...this.#pems(), minVersion: TLS_VERSION_MIN },
        ...{ noDelay: true, keepAlive: true, keepAliveInitialDelay: SILENT_MS },
        // Verification stays on, whatever the environment says (NODE_TLS_REJECT_UNAUTHORIZED).
        rejectUnauthorized: true,
      })
    } catch (error) {
      process.nextTick(done, error)
      return undefined
    }
  }

  #pems(): TlsPems {
    try {
      this.#last = this.#credentials()
    } catch (error) {
      if (this.#last === null) throw error
    }
    return this.#last
  }
}
