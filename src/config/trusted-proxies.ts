import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Whose word on where a request comes from is believed. A header can be sent by anybody, so it counts
 * only from a peer of these; both processes that count callers by address read the same setting.
 */
export type TrustedProxies = readonly Network[]

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number]

export const TRUSTED_PROXIES_VARIABLE = 'COUNTERSIGN_TRUSTED_PROXIES'

export const NO_PROXIES: TrustedProxies = []

/** A proxy on the same machine, as `countersign live init` has it. */
export const LOOPBACK_PROXIES = '127.0.0.1,::1'

const NETWORKS_MAX = 64
const CHARS_MAX = 2_048
const PREFIX = /^(?:0|[1-9]\d{0,2})$/
const MAPPED_BITS = 96

export const TRUSTED_PROXIES_FORM = `must be at most ${NETWORKS_MAX} addresses or networks (192.0.2.0/24), separated by commas, and none of them everybody's`

/** @returns null for what is none; a network is named by any of its addresses */
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
  // Of IPv4 that is written as IPv6 (RFC 4291, section 2.5.5.2) the prefix is written as IPv6's.
  const isMapped = isIP(written) === 6 && address.kind() === 'ipv4'
  const length = Number(prefix) - (isMapped ? MAPPED_BITS : 0)
  // Of length 0 it would be everybody, and the header anybody's to write.
  return length >= 1 && length <= bits ? [address, length] : null
}

/** An address in one form: IPv4 also where IPv6 carries it, as a socket for both tells it. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // Stricter than the package, which takes `127.1` and numbers for addresses.
  if (isIP(text) === 0) return null
  // Of a link the zone says which, in more characters than the package takes.
  return ipaddr.process(text.replace(/%.*/, ''))
}

export function isTrusted(address: ipaddr.IPv4 | ipaddr.IPv6, proxies: TrustedProxies): boolean {
  return proxies.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  )
}
