import { mkdtempSync, rmSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type Authority, type Issued, makeAuthority } from '../../scripts/dev/certificates.js'
import { readTlsFiles, type TlsFiles } from '../../src/config/tls-files.js'
import { SERVICE_PEERS } from '../../src/identity-provider/vault/service-peers.js'
import { type LinkListener, listenOnLink } from '../../src/link/link-listener.js'
import { connectSocket, type SocketClient } from '../../src/quorum-protocol/client.js'
import type { TlsEndpoint } from '../../src/quorum-protocol/endpoint.js'
import { type SocketServer, serveSocket } from '../../src/quorum-protocol/server.js'
import { freePort } from '../support/ports.js'
import { putInPlace } from '../support/put-in-place.js'

/** A listener of the link that serves two calls, its certificates, and those who dial it. */
export const HOST = '127.0.0.1'
export const NAMES = `DNS:identity,IP:${HOST}`

export interface Dialled {
  readonly client: SocketClient
  /** Why it has no answer so far, each reason as it came. */
  readonly reasons: string[]
}

export class LinkWorld {
  directory = ''
  port = 0
  /** Of the listener: what it logged. */
  said: string[] = []
  /** Ended with the test. */
  readonly sockets: Socket[] = []
  #authority: Authority | null = null
  #stranger: Authority | null = null
  #identity: Issued | null = null
  #service: Issued | null = null
  #files: TlsFiles | null = null
  #server: SocketServer | null = null
  #listener: LinkListener | null = null
  readonly #clients: SocketClient[] = []
  readonly #servers: Server[] = []

  /** That both ends pin. */
  get authority() {
    return there(this.#authority)
  }
  get stranger() {
    return there(this.#stranger)
  }
  /** The listener's first certificate. */
  get identity() {
    return there(this.#identity)
  }
  get service() {
    return there(this.#service)
  }
  /** Those that the listener follows. */
  get files() {
    return there(this.#files)
  }
  get server() {
    return there(this.#server)
  }

  open(): void {
    this.directory = mkdtempSync(join(tmpdir(), 'cs-link-'))
    this.#authority = makeAuthority(this.directory, 'authority')
    this.#stranger = makeAuthority(this.directory, 'stranger')
    this.#identity = this.authority.issue('identity', { usage: 'serverAuth', names: NAMES })
    this.#service = this.authority.issue('service', { usage: 'clientAuth' })
  }

  close(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }

  async listen(): Promise<void> {
    this.said = []
    const own = mkdtempSync(join(this.directory, 'served-'))
    const files = {
      certificate: join(own, 'identity.pem'),
      key: join(own, 'identity.key'),
      authority: join(own, 'authority.pem'),
    }
    putInPlace(this.identity.certificate, files.certificate)
    putInPlace(this.identity.key, files.key)
    putInPlace(this.authority.certificate, files.authority)
    this.#files = files
    this.port = await freePort()
    this.#server = await serveSocket({
      path: join(own, 'peer.sock'),
      methods: {},
      handlers: { echo: (parameters) => parameters, sum: ([a, b]) => Number(a) + Number(b) },
      onFault: () => {},
    })
    const say = (context: object, message: string) =>
      void this.said.push(`${message} ${JSON.stringify(context)}`)
    const log = { info: say, warn: say, error: say } as Parameters<typeof listenOnLink>[2]
    const listen = { host: HOST, port: this.port }
    this.#listener = await listenOnLink({ listen, files, ...SERVICE_PEERS }, this.server.serve, log)
  }

  async end(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.close()
    for (const socket of this.sockets.splice(0)) socket.destroy()
    await this.#listener?.close()
    await this.#server?.close()
    for (const server of this.#servers.splice(0)) {
      await new Promise((resolve) => server.close(resolve))
    }
  }

  /** Another that listens, until the test ends. */
  opened(server: Server, port: number): Promise<void> {
    this.#servers.push(server)
    return new Promise((resolve) => server.listen(port, HOST, () => resolve()))
  }

  endpoint(of: Issued, change: Partial<TlsEndpoint> = {}): TlsEndpoint {
    const named = { ...of, authority: this.authority.certificate }
    const credentials = () => readTlsFiles(named)
    return { host: HOST, port: this.port, serverName: null, credentials, ...change }
  }

  /** The service's end, by hand. */
  tls(change: object = {}): TLSSocket {
    const credentials = readTlsFiles({
      ...this.service,
      authority: this.authority.certificate,
    })
    const socket = connect({ host: HOST, port: this.port, ...credentials, ...change })
    this.sockets.push(socket)
    return socket
  }

  dial(to: TlsEndpoint): Dialled {
    const reasons: string[] = []
    const client = connectSocket({
      endpoint: to,
      peer: 'peer',
      onConnect: () => {},
      onDisconnect: () => {},
      onUnanswered: (why) => void reasons.push(why),
    })
    this.#clients.push(client)
    return { client, reasons }
  }

  /** Why it is not let in. @throws Error when it is */
  async refusal(to: TlsEndpoint): Promise<string> {
    const { client, reasons } = this.dial(to)
    await expect.poll(() => reasons.length > 1 || client.answering).toBe(true)
    expect(client.answering).toBe(false)
    return reasons.at(-1) ?? ''
  }

  async answers(to: TlsEndpoint): Promise<SocketClient> {
    const { client, reasons } = this.dial(to)
    await expect.poll(() => client.answering, { message: reasons.join('; ') }).toBe(true)
    return client
  }

  /** The serial number of the certificate that is served now. */
  servedSerial(): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = this.tls()
      socket.once('secureConnect', () => {
        resolve(socket.getPeerCertificate().serialNumber)
        socket.destroy()
      })
      socket.on('error', reject)
    })
  }

  /** Another certificate of the listener's. */
  renewed(name: string, change: object = {}): Issued {
    return this.authority.issue(name, { usage: 'serverAuth', names: NAMES, ...change })
  }
}

/** With a listener of its own for each test of the file. */
export function linkWorld(): LinkWorld {
  const world = new LinkWorld()
  beforeAll(() => world.open())
  afterAll(() => world.close())
  beforeEach(() => world.listen())
  afterEach(() => world.end())
  return world
}

function there<Value>(value: Value | null): Value {
  if (value === null) throw new Error('the link is not open')
  return value
}
