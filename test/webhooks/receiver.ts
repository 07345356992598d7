import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: readonly Received[]
  stop(): Promise<void>
}

/** Answers the request with the 0-based number `index`. */
export type Answer = (response: ServerResponse, index: number, request: IncomingMessage) => void

/** A real HTTP (or HTTPS) server on loopback that records what it gets. */
export async function startReceiver(
  answer: Answer,
  tls?: { readonly key: string; readonly cert: string },
): Promise<Receiver> {
  const received: Received[] = []
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      )
      const index = received.length
      received.push({ method: request.method ?? '', path: request.url ?? '', headers, body })
      answer(response, index, request)
    })
  }
  const server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/hook`,
    port,
    received,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export const status =
  (code: number): Answer =>
  (response) => {
    response.writeHead(code).end()
  }
