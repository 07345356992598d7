import type ipaddr from 'ipaddr.js'
import { isTrusted, parseAddress, type TrustedProxies } from '../config/trusted-proxies.js'

/** What a chain of proxies makes is tens of characters for each. */
const HEADER_CHARS_MAX = 1_024

/** What one customer of a network has at the least. */
const NETWORK_GROUPS = 4
const HEX = 16

/**
 * Whom requests are counted against. Each proxy appends its own peer to `X-Forwarded-For`, so from the
 * right the entries are what trusted proxies saw, up to the first that is none of them; what stands
 * before that is its own claim. A header that cannot be read, or is longer than proxies make it,
 * counts as none. Where every entry is a trusted proxy's, the first of them asks on its own account.
 * @param peer of the connection; an address, or what stands for none
 * @param forwardedFor the headers of that name, joined by commas in their order; empty: none came
 */
export function clientAddress(peer: string, forwardedFor: string, proxies: TrustedProxies): string {
  const address = parseAddress(peer)
  if (address === null) return peer
  if (forwardedFor === '' || !isTrusted(address, proxies)) return networkOf(address)
  return networkOf(forwarded(forwardedFor, proxies) ?? address)
}

/** @returns null where it cannot be read */
function forwarded(header: string, proxies: TrustedProxies): Address | null {
  if (header.length > HEADER_CHARS_MAX) return null
  let found: Address | null = null
  for (const entry of header.split(',').toReversed()) {
    found = parseAddress(entry.trim())
    if (found === null || !isTrusted(found, proxies)) return found
  }
  return found
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Of IPv6 the network, as `2001:db8:0:1::/64`: who has one has all of its 2⁶⁴ addresses, and would
 * else be somebody new at each attempt.
 */
function networkOf(address: Address): string {
  if (!('parts' in address)) return address.toString()
  const groups = address.parts.slice(0, NETWORK_GROUPS)
  return `${groups.map((group) => group.toString(HEX)).join(':')}::/64`
}
