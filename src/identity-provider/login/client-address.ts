import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

const ADDRESS_CHARS_MAX = 64
const GROUPS = 8
/** What one customer of a network has at the least. */
const NETWORK_GROUPS = 4

/** Whom failed sign-ins are counted against, and what the log names. */
export function clientAddress(request: IncomingMessage, exposure: 'direct' | 'tls-proxy'): string {
  const forwarded = request.headers['x-forwarded-for']
  if (exposure === 'tls-proxy' && typeof forwarded === 'string') {
    // Each proxy appends its peer, so only the last entry is not the client's own claim.
    const last = forwarded.split(',').at(-1)?.trim()
    if (last !== undefined && last !== '') return networkOf(last.slice(0, ADDRESS_CHARS_MAX))
  }
  return networkOf(request.socket.remoteAddress ?? 'unknown')
}

/**
 * Of IPv6 the network, as `2001:db8:0:1::/64`: who has one has all of its 2⁶⁴ addresses, and would
 * else be somebody new at each attempt.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%', 1)
  if (isIP(plain) !== 6) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)
  if (mapped?.[1] !== undefined) return mapped[1]
  // Written in its one form (RFC 5952).
  const [front = '', back] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [groupsOf(front), groupsOf(back ?? '')]
  const zeros = Array.from({ length: GROUPS - before.length - after.length }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, NETWORK_GROUPS).join(':')}::/64`
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':')
}
