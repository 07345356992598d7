import ipaddr from 'ipaddr.js'

/**
 * The addresses that deliveries may go to. `public` is the rule; `any` is the operator's choice for
 * development and for receivers inside the operator's own network.
 */
export type WebhookTargets = 'public' | 'any'

/** RFC 4291, section 2.4: the only block from which global unicast addresses are assigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * True for an address of the public Internet. Everything else is refused: private, loopback,
 * link-local, unique-local, shared (CGNAT), multicast, reserved and documentation ranges, and IPv6
 * forms that carry an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo), because a gateway
 * decides what they reach.
 * @param address textual IPv4 or IPv6, as a resolver returns it
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_UNICAST)) return false
  return parsed.range() === 'unicast'
}
