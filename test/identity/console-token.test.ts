import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, type JWTPayload, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type ConsoleTokenVerifier,
  createConsoleTokenVerifier,
} from '../../src/auth/console-token.js'

const ISSUER = 'https://issuer.test'
const AUDIENCE = 'urn:countersign:console'
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed = generateKeyPairSync('ed25519')
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })

let server: Server
let jwksUrl: string
let fetches = 0
let verifier: ConsoleTokenVerifier

beforeAll(async () => {
  const keys = [
    { ...(await exportJWK(ec.publicKey)), kid: 'ec', alg: 'ES256' },
    { ...(await exportJWK(rsa.publicKey)), kid: 'rsa' },
    { ...(await exportJWK(ed.publicKey)), kid: 'ed', alg: 'EdDSA' },
  ]
  server = createServer((_request, response) => {
    fetches++
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ keys }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => {
  fetches = 0
  verifier = createConsoleTokenVerifier({ issuer: ISSUER, audience: AUDIENCE, jwksUrl })
})

afterEach(() => vi.useRealTimers())

const nowSeconds = () => Math.floor(Date.now() / 1_000)

interface TokenParts {
  readonly claims?: JWTPayload
  readonly key?: KeyObject
  readonly alg?: string
  readonly kid?: string
}

function token({ claims = {}, key = ec.privateKey, alg = 'ES256', kid = 'ec' }: TokenParts = {}) {
  const payload = { iss: ISSUER, aud: AUDIENCE, sub: 'user_1', exp: nowSeconds() + 600, ...claims }
  return new SignJWT(payload).setProtectedHeader({ alg, kid }).sign(key)
}

function unsigned(header: object, payload: object, signature: string): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  return `${encode(header)}.${encode(payload)}.${signature}`
}

const refusalOf = async (header: string | undefined) => {
  const result = await verifier.verify(header)
  if (result.ok) throw new Error('accepted')
  return result.fault
}

describe('a console token for an account', () => {
  const of = (claims: JWTPayload) => token({ claims }).then((made) => `Bearer ${made}`)

  it('is its person’s own and its owner’s where it names none', async () => {
    const value = { userId: 'user_1', personId: 'user_1', role: 'owner' }
    expect(await verifier.verify(await of({}))).toMatchObject({ ok: true, value })
    // Names that other issuers use are none of ours.
    const foreign = { account: 'user_2', role: 'viewer', roles: ['owner'] }
    expect(await verifier.verify(await of(foreign))).toMatchObject({ ok: true, value })
  })

  it('names the account, and what the person is there', async () => {
    const claims = { countersign_account: 'user_2', countersign_role: 'viewer' }
    const value = { userId: 'user_2', personId: 'user_1', role: 'viewer' }
    expect(await verifier.verify(await of(claims))).toMatchObject({ ok: true, value })
  })

  it.each([
    { countersign_account: 'user_2' },
    { countersign_role: 'owner' },
    { countersign_account: 'user_2', countersign_role: 'root' },
    { countersign_account: 'user_2', countersign_role: ['owner'] },
    { countersign_account: '', countersign_role: 'owner' },
    { countersign_account: null, countersign_role: 'owner' },
    { countersign_account: 'x'.repeat(256), countersign_role: 'owner' },
  ])('is none with claims that are not whole: %j', async (claims) => {
    expect((await refusalOf(await of(claims))).code).toBe('INVALID_TOKEN')
  })
})

describe('a console token is accepted', () => {
  it.each([
    ['ES256', ec.privateKey, 'ec'],
    ['RS256', rsa.privateKey, 'rsa'],
    ['EdDSA', ed.privateKey, 'ed'],
  ])('when signed with %s by a published key', async (alg, key, kid) => {
    const result = await verifier.verify(`Bearer ${await token({ alg, key, kid })}`)
    expect(result).toMatchObject({ ok: true, value: { userId: 'user_1', email: null } })
  })

  it('within 30 s of leeway on either side', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const late = await token({ claims: { exp: nowSeconds() - 29 } })
    expect((await verifier.verify(`Bearer ${late}`)).ok).toBe(true)
    const early = await token({ claims: { nbf: nowSeconds() + 30 } })
    expect((await verifier.verify(`Bearer ${early}`)).ok).toBe(true)
  })

  it('and remembered no longer than it lives', async () => {
    // Of the leeway some seconds are left.
    const header = `Bearer ${await token({ claims: { exp: nowSeconds() - 24 } })}`
    expect((await verifier.verify(header)).ok).toBe(true)
    await expect.poll(async () => (await verifier.verify(header)).ok).toBe(false)
    expect(verifier.remembers(header)).toBe(false)
    expect((await refusalOf(header)).message).toContain('has expired')
  })

  it('a hundred times at the cost of one fetch', async () => {
    const header = `Bearer ${await token()}`
    const results = await Promise.all(Array.from({ length: 100 }, () => verifier.verify(header)))
    expect(results.every((result) => result.ok)).toBe(true)
    expect(fetches).toBe(1)
  })
})

describe('a console token is refused as INVALID_TOKEN', () => {
  const claimsOfNow = () => ({ iss: ISSUER, aud: AUDIENCE, sub: 'user_1', exp: nowSeconds() + 600 })

  it.each<[string, () => Promise<string | undefined> | string | undefined, string]>([
    ['when the header is missing', () => undefined, 'Send the console token'],
    ['when the scheme is another', async () => `Basic ${await token()}`, 'not "Bearer "'],
    ['when it is no JWT', () => 'Bearer abc', 'not "Bearer "'],
    ['when it is huge', () => `Bearer ${'a'.repeat(9_000)}.b.c`, 'not "Bearer "'],
    ['when its parts are garbage', () => 'Bearer abc.def.ghi', 'well-formed'],
    [
      'when it claims alg none',
      () => `Bearer ${unsigned({ alg: 'none' }, claimsOfNow(), 'AA')}`,
      'ES256, RS256 or EdDSA',
    ],
    [
      'when it is an HMAC under the public key',
      () => {
        const body = unsigned({ alg: 'HS256', kid: 'ec' }, claimsOfNow(), '').slice(0, -1)
        const secret = ec.publicKey.export({ type: 'spki', format: 'pem' })
        return `Bearer ${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`
      },
      'ES256, RS256 or EdDSA',
    ],
    [
      'when expired for longer than the leeway',
      async () => `Bearer ${await token({ claims: { exp: nowSeconds() - 31 } })}`,
      'has expired',
    ],
    [
      'when not valid yet',
      async () => `Bearer ${await token({ claims: { nbf: nowSeconds() + 60 } })}`,
      'not valid yet',
    ],
    [
      'when it never expires',
      async () => `Bearer ${await token({ claims: { exp: undefined } as never })}`,
      'no expiry',
    ],
    [
      'when issued by another',
      async () => `Bearer ${await token({ claims: { iss: 'https://other.test' } })}`,
      'another identity provider',
    ],
    [
      'when meant for another service',
      async () => `Bearer ${await token({ claims: { aud: 'urn:other' } })}`,
      'another service',
    ],
    [
      'when it names no user',
      async () => `Bearer ${await token({ claims: { sub: undefined } as never })}`,
      'names no user',
    ],
    [
      'when signed by another key under a published key id',
      async () => `Bearer ${await token({ key: stranger.privateKey })}`,
      'does not verify',
    ],
    [
      'when signed by an unpublished key',
      async () => `Bearer ${await token({ key: stranger.privateKey, kid: 'stranger' })}`,
      'does not publish',
    ],
    [
      'when changed after signing',
      async () => {
        const [header, , signature] = (await token()).split('.')
        const payload = Buffer.from(JSON.stringify({ ...claimsOfNow(), sub: 'user_2' }))
        return `Bearer ${header}.${payload.toString('base64url')}.${signature}`
      },
      'does not verify',
    ],
  ])('%s', async (_title, header, sentence) => {
    const text = await header()
    const fault = await refusalOf(text)
    expect(fault.code).toBe('INVALID_TOKEN')
    expect(fault.message).toContain(sentence)
    if (text !== undefined) expect(JSON.stringify(fault)).not.toContain(text.slice(-16))
  })

  it('without a fetch for each made-up key id', async () => {
    await verifier.verify(`Bearer ${await token()}`)
    for (let i = 0; i < 5; i++) {
      await refusalOf(`Bearer ${await token({ key: stranger.privateKey, kid: `made-up-${i}` })}`)
    }
    expect(fetches).toBe(1)
  })
})

describe('when the identity provider is down', () => {
  it('a token that cannot be checked is answered COSIGNER_UNAVAILABLE', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const lonely = createConsoleTokenVerifier({
      issuer: ISSUER,
      audience: AUDIENCE,
      jwksUrl: `http://127.0.0.1:${port}/jwks`,
    })
    const result = await lonely.verify(`Bearer ${await token()}`)
    expect(result).toMatchObject({ ok: false, fault: { code: 'COSIGNER_UNAVAILABLE' } })
  })
})
