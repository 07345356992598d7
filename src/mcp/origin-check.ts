/**
 * Checks the Host and Origin of a request against DNS rebinding: a page whose name was made to
 * resolve to this machine still sends its own name in both.
 */

const HOST_WITH_PORT = /^(\[[0-9a-f:.]+\]|[^:/?#@[\]\s]+)(?::\d{1,5})?$/
const HTTP_ORIGIN = /^https?:\/\/(.+)$/

export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

export interface OriginCheck {
  /** @param host the value of `Host` */
  readonly hostAllowed: (host: string) => boolean
  /** @param origin the value of `Origin`; empty if absent, as for all callers but browsers */
  readonly originAllowed: (origin: string) => boolean
}

/** @param hosts names or addresses without port, IPv6 in brackets; any port is accepted */
export function createOriginCheck(hosts: readonly string[]): OriginCheck {
  const allowed = new Set(hosts.map((host) => host.toLowerCase()))
  /** Nearly all requests name the same host. */
  let lastAllowed: string | null = null
  const hostAllowed = (host: string) => {
    if (host === lastAllowed) return true
    const name = HOST_WITH_PORT.exec(host.toLowerCase())?.[1]
    if (name === undefined || !allowed.has(name)) return false
    lastAllowed = host
    return true
  }
  return {
    hostAllowed,
    originAllowed: (origin) => {
      if (origin === '') return true
      const host = HTTP_ORIGIN.exec(origin.toLowerCase())?.[1]
      return host !== undefined && hostAllowed(host)
    },
  }
}
