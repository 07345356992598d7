import type { IncomingMessage } from 'node:http'

const DISCOVERY = '/.well-known/'

/**
 * Makes endpoints follow the issuer, whatever a request says. The package builds URLs from the
 * `Host` header, or from `X-Forwarded-*` behind a proxy; a caller who sets those must not move the
 * endpoints that clients get. Passkeys need `localhost` in development, so a directly reached
 * server accepts that name too, except in its discovery document.
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
