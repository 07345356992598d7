import type { IncomingMessage } from 'node:http'

const DISCOVERY = '/.well-known/'

/**
 * The package makes the URLs of its answers from the `Host` header, or from `X-Forwarded-*` behind
 * a proxy. Whoever can set those must not move the endpoints that clients are given: they are the
 * issuer's, whatever a request says. Passkeys need `localhost` in development, so a server that is
 * reached directly may be called so too, except where it says what its endpoints are.
 * @param request changed in place, before anything reads it
 */
export function pinHost(
  request: IncomingMessage,
  issuer: string,
  exposure: 'direct' | 'tls-proxy',
): void {
  const { host, protocol, port } = new URL(issuer)
  const { headers } = request
  // A target in absolute form (RFC 9112, section 3.2.2) names a host of its own.
  if (request.url?.startsWith('/') !== true) request.url = pathOf(request.url ?? '')
  const isDiscovery = (request.url ?? '').startsWith(DISCOVERY)
  const alias = exposure === 'direct' && !isDiscovery ? `localhost:${port}` : host
  if (headers.host !== alias) headers.host = host
  if (exposure === 'direct') return
  headers['x-forwarded-host'] = host
  headers['x-forwarded-proto'] = protocol.slice(0, -1)
}

function pathOf(target: string): string {
  const url = URL.parse(target)
  return url === null || !url.pathname.startsWith('/') ? '/' : url.pathname + url.search
}
