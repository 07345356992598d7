import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { App, HttpResponse, Listener, RoutedApp, Serve } from '../app.js'
import { HEADER_BYTES_MAX, LINK_HEADER_BYTES_MAX, PATIENCE, type Patience } from './bounds.js'
import { Connection } from './connection.js'
import { createRouter } from './router.js'

interface NodeAppOptions {
  /** Connections open at once; further ones are closed as they come. */
  readonly connectionsMax: number
  readonly onFull?: (isFull: boolean) => void
  readonly patience?: Patience
}

/** An app on `node:http`, for every platform and version of Node. */
export function createNodeApp(options: NodeAppOptions): App {
  const { app, server } = createNodeServer(options)
  return { ...app, listen: (host, port) => listen(server, host, port) }
}

/** An app whose connections another listener accepts, such as a link over TLS. */
export interface AcceptingApp {
  readonly app: RoutedApp
  readonly accept: (connection: Socket) => void
}

/** The listener that accepts must bound the connections. */
export function createAcceptingApp(patience: Patience = PATIENCE): AcceptingApp {
  const { app, server } = createNodeServer({
    ...{ connectionsMax: Number.POSITIVE_INFINITY, patience },
    headerBytesMax: LINK_HEADER_BYTES_MAX,
  })
  // From now on Node ends requests that take too long, which it would not do for a server that
  // never listens.
  server.emit('listening')
  return { app, accept: (connection) => void server.emit('connection', connection) }
}

function createNodeServer(options: NodeAppOptions & { readonly headerBytesMax?: number }): {
  readonly app: RoutedApp
  readonly server: Server
} {
  const { connectionsMax, onFull, patience = PATIENCE, headerBytesMax = HEADER_BYTES_MAX } = options
  const router = createRouter()
  const connections = new WeakMap<Socket, Connection>()
  const server = createServer({
    // Set explicitly, because a command-line flag could change the default.
    insecureHTTPParser: false,
    maxHeaderSize: headerBytesMax,
    // This adapter checks the header itself, with an answer that tells what is wrong.
    requireHostHeader: false,
    headersTimeout: patience.headersMs,
    requestTimeout: patience.requestMs,
    connectionsCheckingInterval: patience.checkedMs,
    keepAliveTimeout: patience.keepAliveMs,
  })
  server.setTimeout(patience.stalledMs)
  // Headers beyond a maximum would be dropped silently; `HEADERS_MAX` refuses them.
  server.maxHeadersCount = 0
  if (Number.isFinite(connectionsMax)) server.maxConnections = connectionsMax
  server.on('drop', () => onFull?.(true))
  server.on('connection', (socket) => connections.set(socket, new Connection(socket, router)))
  server.on('request', (message, response) =>
    connections.get(message.socket)?.take(message, response),
  )
  // RFC 9110, section 10.1.1: an unknown expectation may be ignored.
  server.on('checkExpectation', (message, response) =>
    connections.get(message.socket)?.take(message, response),
  )
  server.on('clientError', (error, socket) => connections.get(socket as Socket)?.broke(error))
  server.on('timeout', (socket) => connections.get(socket)?.stalled())
  // A connection that could not be accepted. Without a listener the error would end the process.
  server.on('error', () => undefined)

  const on = (method: string) => (path: string, serve: Serve) => router.add(method, path, serve)
  const app: RoutedApp = {
    adapter: 'node:http',
    get: on('GET'),
    head: on('HEAD'),
    post: on('POST'),
    patch: on('PATCH'),
    put: on('PUT'),
    del: on('DELETE'),
    options: on('OPTIONS'),
    any: on('ANY'),
    writeHeaders: writeEach,
  }
  return { app, server }
}

function writeEach(response: HttpResponse, name: string, value: string): void {
  const [first = '', ...rest] = value.split('\r\n')
  response.writeHeader(name, first)
  for (const line of rest) {
    const colon = line.indexOf(': ')
    response.writeHeader(line.slice(0, colon), line.slice(colon + 2))
  }
}

function listen(server: Server, host: string, port: number): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error) =>
      reject(new Error(`cannot listen on ${host}:${port}; is the port taken?`, { cause }))
    server.once('error', onError)
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', onError)
      resolve({ port: (server.address() as AddressInfo).port, close: () => server.close() })
    })
  })
}
