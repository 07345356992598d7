import { expect, test } from 'vitest'
import { clientAddress } from '../../src/auth/client-address.js'
import { NO_PROXIES, parseTrustedProxies } from '../../src/config/trusted-proxies.js'

function trusting(text: string) {
  const proxies = parseTrustedProxies(text)
  if (proxies === null) throw new Error('no proxies')
  return proxies
}

test.each([
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:ffff:1:2:3', '2001:db8:0:0::/64'],
  ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:0000:0000:0000:0001', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%br-1.2', 'fe80:0:0:0::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['0000:0000:0000:0000:0000:ffff:c000:0207', '192.0.2.7'],
  ['192.0.2.7', '192.0.2.7'],
  ['unknown', 'unknown'],
  ['', ''],
])('what comes from %s is counted against %s', (peer, counted) => {
  expect(clientAddress(peer, '', NO_PROXIES)).toBe(counted)
})

const HEADER = '198.51.100.7'

test.each(['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1'])(
  'a header of %s, which is no trusted proxy, is not believed',
  (peer) => {
    const ours = clientAddress(peer, '', NO_PROXIES)
    expect(clientAddress(peer, HEADER, NO_PROXIES)).toBe(ours)
    expect(clientAddress(peer, HEADER, trusting('10.0.0.0/8,2001:db8:1::/48'))).toBe(ours)
  },
)

test.each([
  ['the peer of the only proxy', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
  ['not what the caller claims', '10.0.0.1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
  ['the peer of the outermost trusted one', '10.0.0.1', '1.1.1.1,198.51.100.7, 10.2.0.1', HEADER],
  ['across families', '::1', '198.51.100.7, 2001:db8:1::9', '198.51.100.7'],
  ['IPv4 that IPv6 carries', '::ffff:10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
  ['the network of IPv6', '10.0.0.1', '2001:db8:2:3:4:5:6:7', '2001:db8:2:3::/64'],
  ['a proxy that asks by itself', '10.0.0.1', '10.9.9.9, 10.2.0.1', '10.9.9.9'],
])('of trusted proxies: %s', (_, peer, header, counted) => {
  const proxies = trusting('10.0.0.0/8, ::1, 2001:db8:1::/48')
  expect(clientAddress(peer, header, proxies)).toBe(counted)
})

test.each([
  ['no address', 'unknown'],
  ['a port', '198.51.100.7:443'],
  ['brackets', '[2001:db8:2::1]'],
  ['a number', '3325256711'],
  ['nothing behind the comma', '198.51.100.7,'],
  ['something unreadable behind a trusted one', '198.51.100.7, x, 10.0.0.2'],
  ['more than proxies write', `${'198.51.100.7,'.repeat(100)}198.51.100.7`],
])('a header that cannot be read (%s) leaves the peer', (_, header) => {
  expect(clientAddress('10.0.0.1', header, trusting('10.0.0.0/8'))).toBe('10.0.0.1')
})

test.each([
  '',
  'localhost',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/08',
  '10.0.0.0/8/8',
  '10.1',
  '10.0.0.1,',
  '0.0.0.0/0',
  '::/0',
  '::ffff:10.0.0.0/96',
  '2001:db8::/129',
  Array.from({ length: 65 }, () => '10.0.0.1').join(),
  '10.0.0.1,'.repeat(1_000),
])('%j names no proxies', (text) => {
  expect(parseTrustedProxies(text)).toBeNull()
})

test('a network is named by any of its addresses, and as IPv6 writes it', () => {
  const proxies = trusting('10.1.2.3/8,::ffff:172.16.0.0/108')
  for (const peer of ['10.200.0.1', '172.31.0.1']) {
    expect(clientAddress(peer, HEADER, proxies)).toBe(HEADER)
  }
  expect(clientAddress('172.32.0.1', HEADER, proxies)).toBe('172.32.0.1')
})
