import { clientAddress } from '../auth/client-address.js'
import type { TrustedProxies } from '../config/trusted-proxies.js'

const UNTRUSTED =
  'A request has an X-Forwarded-For header, but COUNTERSIGN_TRUSTED_PROXIES is not set. If a proxy is in front, all of its callers share one address and its rate limits. Set the variable to the address of the proxy.'

/**
 * Returns the function that finds the address whose rate limits a request uses. It warns once if
 * requests carry X-Forwarded-For but no proxy is trusted, because then all callers behind the proxy
 * share limits.
 */
export function callerAddress(
  proxies: TrustedProxies,
  log: { warn(message: string): void },
): (peer: string, forwardedFor: string) => string {
  let isUnwarned = proxies.length === 0
  return (peer, forwardedFor) => {
    if (isUnwarned && forwardedFor !== '') {
      isUnwarned = false
      log.warn(UNTRUSTED)
    }
    return clientAddress(peer, forwardedFor, proxies)
  }
}
