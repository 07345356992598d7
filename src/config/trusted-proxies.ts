import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Proxies that are trusted about the origin of a request. Anyone can send the header, so it counts
 * only from these peers; both processes that count callers by address read the same setting.
 */
export type TrustedProxies = readonly Network[]

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number]

export const TRUSTED_PROXIES_VARIABLE = 'COUNTERSIGN_TRUSTED_PROXIES'

export const NO_PROXIES: TrustedProxies = []

/** A proxy on the same machine, as `countersign live init` configures it. */
export const LOOPBACK_PROXIES = '127.0.0.1,::1'

const NETWORKS_MAX = 64
const CHARS_MAX = 2_048
const PREFIX = /^(?:0|[1-9]\d{0,2})$/
const MAPPED_BITS = 96

export const TRUSTED_PROXIES_FORM = `must be at most ${NETWORKS_MAX} addresses or networks (192.0.2.0/24), separated by commas, and none may cover all addresses`

/** @returns null for invalid text; any address of a network names it */
export function parseTrustedProxies(text: string): TrustedProxies | null {
  if (text.length > CHARS_MAX) return null
  const networks = text.split(',').map((part) => parseNetwork(part.trim()))
  if (networks.length > NETWORKS_MAX) return null
  return networks.every((network) => network !== null) ? networks : null
}

function parseNetwork(text: string): Network | null {
  const [written = '', prefix, ...rest] = text.split('/')
  const address = parseAddress(written)
  if (address === null || rest.length > 0) return null
  const bits = address.kind() === 'ipv4' ? 32 : 128
  if (prefix === undefined) return [address, bits]
  if (!PREFIX.test(prefix)) return null
  // The prefix of an IPv4 address written as IPv6 (RFC 4291, section 2.5.5.2) counts in IPv6 bits.
  const isMapped = isIP(written) === 6 && address.kind() === 'ipv4'
  const length = Number(prefix) - (isMapped ? MAPPED_BITS : 0)
  // A prefix of length 0 would include everyone, and anyone could set the header.
  return length >= 1 && length <= bits ? [address, length] : null
}

/**
 * Returns an address in one form: an IPv4 address also when IPv6 carries it, as dual-stack sockets
 * report it.
 */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // Stricter than the package, which accepts `127.1` and plain numbers.
  if (isIP(text) === 0) return null
  // The zone of a link-local address uses more characters than the package accepts.
  return ipaddr.process(text.replace(/%.*/, ''))
}

export function isTrusted(address: ipaddr.IPv4 | ipaddr.IPv6, proxies: TrustedProxies): boolean {
  return proxies.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  )
}
