import type ipaddr from 'ipaddr.js'
import { isTrusted, parseAddress, type TrustedProxies } from '../config/trusted-proxies.js'

/** A chain of proxies adds some tens of characters each. */
const HEADER_CHARS_MAX = 1_024

/** The smallest network that one customer has. */
const NETWORK_GROUPS = 4
const HEX = 16

/**
 * Returns the address to which requests are counted. Each proxy appends its own peer to
 * `X-Forwarded-For`, so from the right the entries are what trusted proxies saw, up to the first
 * untrusted one; entries before that are its own claim. An unreadable or overlong header is
 * ignored. If every entry belongs to a trusted proxy, the first one counts as the caller.
 * @param peer the connection's address, or a placeholder
 * @param forwardedFor the headers of that name, joined by commas in their order; empty without any
 */
export function clientAddress(peer: string, forwardedFor: string, proxies: TrustedProxies): string {
  const address = parseAddress(peer)
  if (address === null) return peer
  if (forwardedFor === '' || !isTrusted(address, proxies)) return networkOf(address)
  return networkOf(forwarded(forwardedFor, proxies) ?? address)
}

/** @returns null when it cannot be read */
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
 * Returns an IPv6 address's network, such as `2001:db8:0:1::/64`: its holder controls all 2⁶⁴
 * addresses, and could otherwise appear as a new caller at each attempt.
 */
function networkOf(address: Address): string {
  if (!('parts' in address)) return address.toString()
  const groups = address.parts.slice(0, NETWORK_GROUPS)
  return `${groups.map((group) => group.toString(HEX)).join(':')}::/64`
}
