import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Dispatcher, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGuardedAgent, type GuardedAgentOptions } from '../../src/webhooks/guarded-agent.js'
import { isPublicAddress } from '../../src/webhooks/target-address.js'
import { validateWebhookUrl } from '../../src/webhooks/webhook-url.js'
import { type Receiver, startReceiver, status } from './receiver.js'

const REFUSED_ADDRESSES = [
  ['this network', '0.0.0.0'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.1.1'],
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['link-local, cloud metadata', '169.254.169.254'],
  ['shared (CGNAT)', '100.64.0.1'],
  ['shared (CGNAT)', '100.127.255.255'],
  ['protocol assignments', '192.0.0.1'],
  ['documentation', '192.0.2.1'],
  ['documentation', '198.51.100.1'],
  ['documentation', '203.0.113.1'],
  ['6to4 relay', '192.88.99.1'],
  ['benchmarking', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['IPv6 loopback', '::1'],
  ['IPv6 unspecified', '::'],
  ['IPv6 link-local', 'fe80::1'],
  ['IPv6 site-local', 'fec0::1'],
  ['IPv6 unique local', 'fd00::1'],
  ['IPv6 multicast', 'ff02::1'],
  ['IPv6 documentation', '2001:db8::1'],
  ['IPv6 documentation', '3fff::1'],
  ['IPv6 discard', '100::1'],
  ['mapped loopback', '::ffff:127.0.0.1'],
  ['mapped loopback', '::ffff:7f00:1'],
  ['mapped public', '::ffff:8.8.8.8'],
  ['compatible loopback', '::127.0.0.1'],
  ['NAT64 loopback', '64:ff9b::7f00:1'],
  ['NAT64 local use', '64:ff9b:1::a00:1'],
  ['6to4 of a private address', '2002:a00:1::1'],
  ['Teredo', '2001:0:53aa:64c::1'],
  ['not an address', 'localhost'],
] as const

/** Why the request failed: the connector's own error, or undici's. */
async function refusal(options: GuardedAgentOptions, url: string): Promise<unknown> {
  const agent = createGuardedAgent(options)
  try {
    await get(agent, url)
    return 'connected'
  } catch (error) {
    return error instanceof Error ? error.message : error
  } finally {
    await agent.destroy()
  }
}

async function get(dispatcher: Dispatcher, url: string): Promise<number> {
  const response = await request(url, { dispatcher, signal: AbortSignal.timeout(30_000) })
  await response.body.dump()
  return response.statusCode
}

describe('addresses', () => {
  it.each(REFUSED_ADDRESSES)('%s %s is not public', (_kind, address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )
})

describe('connecting', () => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver(status(200))
  })
  afterAll(() => receiver.stop())

  it.each(REFUSED_ADDRESSES.slice(0, -1))(
    'to a name that resolves to %s %s is refused',
    async (_kind, address) => {
      const resolve = async () => [{ address, family: address.includes(':') ? 6 : 4 }]
      const reason = await refusal({ targets: 'public', resolve }, 'https://hook.example/')
      expect(reason).toBe('the host resolves to a private or reserved address')
    },
  )

  it.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
  ])('to %s is refused', async (url) => {
    const reason = await refusal({ targets: 'public' }, url)
    expect(reason).toBe('the host resolves to a private or reserved address')
  })

  it('is refused when only one of several addresses is private', async () => {
    const resolve = async () => [
      { address: '8.8.8.8', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ]
    const reason = await refusal({ targets: 'public', resolve }, 'https://hook.example/')
    expect(reason).toBe('the host resolves to a private or reserved address')
  })

  it('without TLS is refused', async () => {
    const reason = await refusal({ targets: 'public' }, 'http://hook.example/')
    expect(reason).toBe('the URL is not https')
  })

  it('goes to the very address that was checked: the name is resolved once', async () => {
    let lookups = 0
    const resolve = async () => {
      lookups++
      return [{ address: lookups === 1 ? '127.0.0.1' : '203.0.113.1', family: 4 }]
    }
    const agent = createGuardedAgent({ targets: 'any', resolve })
    expect(await get(agent, `http://rebind.invalid:${receiver.port}/`)).toBe(200)
    expect(lookups).toBe(1)
    await agent.destroy()
  })

  it('is checked again for each new connection: a name that turns private is refused', async () => {
    let lookups = 0
    const resolve = async () => [
      { address: ++lookups === 1 ? '203.0.113.1' : '127.0.0.1', family: 4 },
    ]
    const checked = await refusal({ targets: 'public', resolve }, 'https://hook.example/').then(
      () => refusal({ targets: 'public', resolve }, 'https://hook.example/'),
    )
    expect(checked).toBe('the host resolves to a private or reserved address')
  })

  it('tries the next address when one does not answer', async () => {
    const resolve = async () => [
      { address: '127.0.0.2', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    const agent = createGuardedAgent({ targets: 'any', resolve })
    expect(await get(agent, `http://two.invalid:${receiver.port}/`)).toBe(200)
    await agent.destroy()
  })
})

describe('TLS', () => {
  let directory: string
  let receiver: Receiver
  let cert: string

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'countersign-tls-'))
    const [keyPath, certPath] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    execFileSync(
      'openssl',
      // biome-ignore format: one option and its value per line would bury the command
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
        '-subj', '/CN=hook.example', '-addext', 'subjectAltName=DNS:hook.example',
        '-keyout', keyPath, '-out', certPath],
      { stdio: 'ignore' },
    )
    cert = readFileSync(certPath, 'utf8')
    receiver = await startReceiver(status(200), { key: readFileSync(keyPath, 'utf8'), cert })
  })
  afterAll(async () => {
    await receiver.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]

  it('proves the name of the URL, though the socket goes to an address', async () => {
    const agent = createGuardedAgent({ targets: 'any', resolve, ca: cert })
    expect(await get(agent, `https://hook.example:${receiver.port}/`)).toBe(200)
    await agent.destroy()
    const other = await refusal(
      { targets: 'any', resolve, ca: cert },
      `https://other.example:${receiver.port}/`,
    )
    expect(other).toContain('altnames')
  })

  it('refuses a certificate that nobody vouches for', async () => {
    const reason = await refusal(
      { targets: 'any', resolve },
      `https://hook.example:${receiver.port}/`,
    )
    expect(reason).toContain('self-signed')
  })
})

describe('registering a URL', () => {
  it.each([
    ['ftp://hook.example/', 'https://'],
    ['http://hook.example/', 'https://'],
    ['hook.example', 'not an absolute URL'],
    ['https://user:pass@hook.example/', 'user name or password'],
    ['https://hook.example/#top', 'fragment'],
    ['https://localhost/', 'public Internet'],
    ['https://intranet/', 'public Internet'],
    ['https://db.internal/', 'public Internet'],
    ['https://printer.local./', 'public Internet'],
    ['https://127.0.0.1/', 'private or reserved'],
    ['https://[::ffff:10.0.0.1]/', 'private or reserved'],
    ['https://[fd00::1]/', 'private or reserved'],
    ['https://2130706433/', 'dotted decimal'],
    ['https://0x08080808/', 'dotted decimal'],
    ['https://010.010.010.010/', 'dotted decimal'],
    [`https://hook.example/${'a'.repeat(2_048)}`, 'longer than'],
  ])('%s is refused', (url, sentence) => {
    const result = validateWebhookUrl(url, 'public')
    expect(result).toMatchObject({ ok: false, fault: { code: 'INVALID_REQUEST' } })
    if (!result.ok) expect(result.fault.message).toContain(sentence)
  })

  it.each(['https://hook.example/path?x=1', 'https://8.8.8.8/', 'https://[2606:4700::1111]:8443/'])(
    '%s is accepted',
    (url) => {
      expect(validateWebhookUrl(url, 'public')).toEqual({ ok: true, value: url })
    },
  )

  it('on loopback without TLS is accepted where the operator allows any target', () => {
    expect(validateWebhookUrl('http://127.0.0.1:4000/hook', 'any').ok).toBe(true)
  })
})
