import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Member, MemberSet } from '../../src/custody/members/member-set.js'
import { ONE_CELL } from '../../src/domain/cells.js'
import type { Role } from '../../src/domain/role.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import { type ConsoleTokens, openConsoleTokens } from '../../src/wiring/console-tokens.js'

/** What a console token is good for rests on what the service knows of members, not on its claims. */

const AUDIENCE = 'urn:countersign:console'
const [ADA, BOB] = ['user_ada', 'user_bob']
const { privateKey, publicKey } = await generateKeyPair('ES256')

let server: Server
let tokens: ConsoleTokens
let known: MemberSet | null = null

beforeAll(async () => {
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }
  server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ keys: [jwk] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = { identityIssuer: issuer, identityJwksUrl: null }
  const members = (ownerHash: Uint8Array) =>
    sha256(Buffer.from(ADA)).equals(ownerHash) ? known : null
  tokens = openConsoleTokens(config, { members }, ONE_CELL)
})
afterAll(() => server.close())

const issuer = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function headerOf(sub: string, account: string | null, role: Role = 'owner') {
  const claims = account === null ? {} : { countersign_account: account, countersign_role: role }
  const jwt = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuer(issuer())
    .setAudience(AUDIENCE)
    .setSubject(sub)
    .setExpirationTime('1h')
    .sign(privateKey)
  return `Bearer ${jwt}`
}

function having(...people: readonly [personId: string, role: Role, acceptBeforeMs?: number][]) {
  const members = people.map(
    ([personId, role, acceptBeforeMs = null]): Member => ({
      ...{ personId, role, acceptBeforeMs, email: null, sinceMs: 0, byId: null },
    }),
  )
  known = { sequence: 1, members }
}

test('a person is the owner of their own account, to which nobody was invited', async () => {
  known = null
  const value = { userId: ADA, personId: ADA, role: 'owner' }
  expect(await tokens.verify(await headerOf(ADA, null))).toMatchObject({ ok: true, value })
  expect(await tokens.verify(await headerOf(ADA, ADA))).toMatchObject({ ok: true, value })
})

test('a token for an account of somebody else is none without a place there', async () => {
  known = null
  const header = await headerOf(BOB, ADA, 'owner')
  const refused = { ok: false, fault: { code: 'INVALID_TOKEN' } }
  expect(await tokens.verify(header)).toMatchObject(refused)
  having([ADA, 'owner'], [BOB, 'owner', Date.now() + 60_000])
  expect(await tokens.verify(header)).toMatchObject(refused)
})

test('a role is what it is by now, whatever the token says', async () => {
  having([ADA, 'owner'], [BOB, 'viewer'])
  const header = await headerOf(BOB, ADA, 'owner')
  expect(await tokens.verify(header)).toMatchObject({ ok: true, value: { role: 'viewer' } })
  having([ADA, 'owner'], [BOB, 'operator'])
  expect(await tokens.verify(header)).toMatchObject({ ok: true, value: { role: 'operator' } })
})

test('a token that was verified before is none once its person is removed', async () => {
  having([ADA, 'owner'], [BOB, 'viewer'])
  const header = await headerOf(BOB, ADA, 'viewer')
  const { value } = (await tokens.verify(header)) as {
    value: Parameters<typeof tokens.isMember>[0]
  }
  expect(tokens.isMember(value)).toBe(true)
  having([ADA, 'owner'])
  expect(await tokens.verify(header)).toMatchObject({ ok: false, fault: { code: 'INVALID_TOKEN' } })
  expect(tokens.isMember(value)).toBe(false)
  // Whoever an account began with may have left it, too.
  having([BOB, 'owner'])
  const own = await headerOf(ADA, null)
  expect(await tokens.verify(own)).toMatchObject({ ok: false, fault: { code: 'INVALID_TOKEN' } })
})
