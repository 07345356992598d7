import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readIdentitySettings } from '../../src/identity-provider/settings.js'
import { createTokenVerifier } from '../../src/identity-provider/vault/console-token.js'

const ISSUER = 'https://login.example.test/realms/agents'
const AUDIENCE = 'urn:countersign:console'
const OWNER = { personId: 'agent-owner', accountId: 'agent-owner' }

let directory: string
let jwksFile: string
let own: CryptoKey
let stranger: CryptoKey
let privateJwk: object

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cs-issuer-'))
  jwksFile = join(directory, 'jwks.json')
  const pair = await generateKeyPair('RS256', { extractable: true })
  own = pair.privateKey
  privateJwk = await exportJWK(pair.privateKey)
  stranger = (await generateKeyPair('RS256')).privateKey
  const keys = [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256' }]
  writeFileSync(jwksFile, JSON.stringify({ keys }))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function token(key: CryptoKey, claims: JWTPayload = {}, issuedAt = 'now'): Promise<string> {
  return new SignJWT({ sub: 'agent-owner', ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt(issuedAt === 'now' ? undefined : issuedAt)
    .setExpirationTime('1h')
    .sign(key)
}

const environment = () => ({ CONSOLE_ISSUER: ISSUER, CONSOLE_JWKS_FILE: jwksFile })

describe("tokens of the operator's own OIDC provider", () => {
  test('are taken by the user side when a pinned key signed them, and no others', async () => {
    const { external } = readIdentitySettings(environment())
    if (external === null) throw new Error('not read')
    const verify = createTokenVerifier({ ...external, audience: AUDIENCE })
    expect(await verify(await token(own))).toEqual(OWNER)
    const elsewhereToo = await token(own, { countersign_account: 'agent-other' })
    expect(await verify(elsewhereToo)).toEqual({ ...OWNER, accountId: 'agent-other' })
    for (const countersign_account of ['', 7, null, 'x'.repeat(256)]) {
      const nobodys = verify(await token(own, { countersign_account }))
      await expect(nobodys).rejects.toThrow('names no account')
    }
    await expect(verify(await token(stranger))).rejects.toThrow('console token')
    await expect(
      verify(await token(own, { aud: 'another' }).then((it) => `${it}x`)),
    ).rejects.toThrow('console token')
    const other = createTokenVerifier({ ...external, audience: 'urn:another' })
    await expect(other(await token(own))).rejects.toThrow('console token')
    const elsewhere = createTokenVerifier({
      ...external,
      issuer: 'https://x.test',
      audience: AUDIENCE,
    })
    await expect(elsewhere(await token(own))).rejects.toThrow('console token')
  })

  test('add an authorizer only within minutes of a sign-in', async () => {
    const { external } = readIdentitySettings(environment())
    if (external === null) throw new Error('not read')
    const verify = createTokenVerifier({ ...external, audience: AUDIENCE, ageSecondsMax: 600 })
    expect(await verify(await token(own))).toEqual(OWNER)
    await expect(verify(await token(own, {}, '20 minutes ago'))).rejects.toThrow('console token')
  })
})

describe('the settings of the identity provider', () => {
  test('refuse what would trust the wrong keys or leave a hole', () => {
    expect(readIdentitySettings({})).toMatchObject({ port: 3100, external: null })
    expect(() => readIdentitySettings({ CONSOLE_ISSUER: ISSUER })).toThrow('CONSOLE_JWKS_FILE')
    const leaked = join(directory, 'private.json')
    writeFileSync(leaked, JSON.stringify({ keys: [privateJwk] }))
    expect(() => readIdentitySettings({ ...environment(), CONSOLE_JWKS_FILE: leaked })).toThrow(
      'public keys',
    )
    for (const uris of ['http://wallet.example.test/callback', 'nonsense', 'https://a.test/#b']) {
      expect(() => readIdentitySettings({ CONSOLE_REDIRECT_URIS: uris })).toThrow('https')
    }
    const { consoleRedirectUris } = readIdentitySettings({
      CONSOLE_REDIRECT_URIS: 'https://a.test/console/callback,https://b.test/console/callback',
    })
    expect(consoleRedirectUris).toHaveLength(2)
  })
})
