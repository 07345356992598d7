import { clientAddress } from '../auth/client-address.js'
import type { TrustedProxies } from '../config/trusted-proxies.js'

const UNTRUSTED =
  'a request says by X-Forwarded-For whom it is from, and COUNTERSIGN_TRUSTED_PROXIES names no proxy: where one is in front, all of its callers share the limits by address'

/** Whom requests are counted against; says once where a proxy seems to be in front and is not named. */
export function callerAddress(
  proxies: TrustedProxies,
  log: { warn(message: string): void },
): (peer: string, forwardedFor: string) => string {
  let isToBeSaid = proxies.length === 0
  return (peer, forwardedFor) => {
    if (isToBeSaid && forwardedFor !== '') {
      isToBeSaid = false
      log.warn(UNTRUSTED)
    }
    return clientAddress(peer, forwardedFor, proxies)
  }
}
