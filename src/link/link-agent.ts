import { Agent, type AgentOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import type { TlsPems } from '../config/tls-files.js'
import { TLS_VERSION_MIN } from '../quorum-protocol/endpoint.js'

/** Of one that waits for the next request; the other side keeps it for longer. */
const IDLE_MS = 30_000
/** A machine that is gone amid a request is missed by then. */
const SILENT_MS = 10_000

/** HTTP to other machines by their links, each connection with the certificate that is in place by then. */
export class LinkAgent extends Agent {
  readonly #credentials: () => TlsPems
  /** Of the last time that they were of use: amid a renewal the files may not belong together. */
  #last: TlsPems | null = null

  constructor(credentials: () => TlsPems) {
    const options: AgentOptions = { keepAlive: true, timeout: IDLE_MS }
    super(options)
    this.#credentials = credentials
  }

  /** Never throws: a certificate that is of no use is a connection that is not made. */
  override createConnection(
    { host, port }: { host?: string; port?: number | string },
    done: (error: Error | null, socket: Duplex) => void = () => undefined,
  ): Duplex | undefined {
    try {
      return connect({
        ...{ host, port: Number(port), ...this.#pems(), minVersion: TLS_VERSION_MIN },
        ...{ noDelay: true, keepAlive: true, keepAliveInitialDelay: SILENT_MS },
        // Whatever the environment says (NODE_TLS_REJECT_UNAUTHORIZED).
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
