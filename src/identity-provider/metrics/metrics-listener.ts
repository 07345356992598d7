import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'

interface MetricsListener {
  readonly port: number
  close(): void
}

/** A scraper needs one; the others are for a second scraper and a person. */
const CONNECTIONS_MAX = 16
const HEADERS_TIMEOUT_MS = 5_000

/**
 * Serves `/metrics` on a loopback port of its own, apart from the login: what browsers reach never
 * shows the state of the domain.
 * @param port 0 picks a free one
 */
export function listenForMetrics(
  port: number,
  registry: Registry,
  log: Pick<Logger, 'error'>,
): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error: unknown) => {
        log.error({ err: error }, 'metrics could not be collected')
        response.writeHead(500).end()
      },
    )
  })
  server.maxConnections = CONNECTIONS_MAX
  server.headersTimeout = HEADERS_TIMEOUT_MS
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve({
        port: (server.address() as AddressInfo).port,
        close() {
          server.close()
          server.closeAllConnections()
        },
      })
    })
  })
}
