import { Pool } from 'undici'
import { exchange, type HttpAnswer } from './exchange.js'

/** The connection to one endpoint. A simulator has one of its own. */
export interface Transport {
  /** @throws RpcTransportError `unanswered` past the deadline; otherwise what undici throws */
  post(body: string): Promise<HttpAnswer>
  close(): Promise<void>
}

/** Sockets per endpoint; with HTTP batching, more would only spread the same load thinner. */
const CONNECTIONS_MAX = 16
/** A batch with a larger answer is halved (reads.ts); a single call with a larger answer fails. */
const RESPONSE_BYTES_MAX = 16 * 1024 * 1024
/**
 * Idle sockets are closed before the usual 60 s of load balancers, so that fewer fail in flight.
 */
const KEEP_ALIVE_MS = 30_000

/**
 * Uses keep-alive connections.
 * @throws TypeError when it is not a URL
 */
export function httpTransport(endpointUrl: string, timeoutMs: number): Transport {
  const url = new URL(endpointUrl)
  const path = `${url.pathname}${url.search}`
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (url.username !== '') {
    const userinfo = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers.authorization = `Basic ${Buffer.from(userinfo).toString('base64')}`
  }
  const pool = new Pool(url.origin, {
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: timeoutMs },
    // The deadline of `exchange` covers headers and body together; undici's own timers are coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: RESPONSE_BYTES_MAX,
  })
  return {
    post: (body) => exchange(pool, { path, headers, body, timeoutMs }),
    close: () => pool.destroy(),
  }
}
