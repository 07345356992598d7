import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mintConsoleToken } from '../../scripts/dev/mint-console-token.js'
import { grantMessage } from '../../src/custody/authorizers/grant-statement.js'
import { decodeProof, encodeProof } from '../../src/custody/authorizers/proof.js'
import type { SubWalletId } from '../../src/domain/ids.js'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import type { Lies } from '../support/software-authenticator.js'
import {
  type AuthorizerClient,
  connectAuthorizers,
  issuerOf,
  type KeyAuthorizer,
  type Passkey,
} from './authorizer-client.js'
import {
  answered,
  askedOf,
  faultOf,
  grantPut,
  keyProof,
  newGrant,
  passkeyProof,
  statementOf,
} from './grants.js'
import {
  newKeyId,
  newWalletId,
  type Quorum,
  type ReadyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
  USER,
  WEBAUTHN,
} from './harness.js'
import {
  becomeService,
  type HostileService,
  intentFor,
  judged,
  refusalOf,
  strangerKey,
} from './hostile.js'

const PASSKEYS = { rpId: WEBAUTHN.rp_id, origin: WEBAUTHN.origins[0] ?? '' }
const MALLORY = { email: 'mallory@example.test', password: randomBytes(12).toString('hex') }
const MINUTE_MS = 60_000

let quorum: Quorum
let service: HostileService
let walletId: SubWalletId
let client: AuthorizerClient
let passkey: Passkey
let key: KeyAuthorizer
let malloryClient: AuthorizerClient
let malloryPasskey: Passkey

beforeAll(async () => {
  quorum = await startQuorum()
  service = await becomeService(quorum)
  walletId = newWalletId()
  await quorum.coSigner.createWallet(walletId, quorum.userId)
  await createUser(join(quorum.home, 'identity-provider'), MALLORY.email, MALLORY.password)
  client = await connectAuthorizers(quorum.home, USER, PASSKEYS)
  malloryClient = await connectAuthorizers(quorum.home, MALLORY, PASSKEYS)
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

describe('before there is an authorizer', () => {
  test('dev confirms by its software key, and says so', async () => {
    const outcome = await quorum.coSigner.putGrant(newGrant(quorum, walletId))
    expect(outcome).toEqual({ authorizedBy: 'software' })
  })
})

describe('22: an authorizer', () => {
  test('is registered at the identity provider, and known to both domains', async () => {
    passkey = await client.addPasskey()
    key = await client.addKey((challenge) => passkey.prove(challenge))
    malloryPasskey = await malloryClient.addPasskey()
    const { authorizers } = await quorum.coSigner.authorizersOf(quorum.userId)
    expect(authorizers.map(({ authorizerId, kind }) => [authorizerId, kind])).toEqual([
      [passkey.authorizerId, 'passkey'],
      [key.authorizerId, 'p256'],
    ])
  })

  test('is not added with what the service sees of the user: the console token', async () => {
    const begun = await client.call(
      'begin',
      { kind: 'passkey', label: 'not mine' },
      quorum.consoleToken,
    )
    expect(begun.status).toBe(401)
    for (const method of ['authorizers-put', 'authorizers-add', 'register']) {
      expect(await refusalOf(service.userSide.call(method, []))).toBe('MALFORMED')
    }
  })

  test('is not added to one that is there without its approval', async () => {
    const added = await client.addKey()
    const { authorizers } = await quorum.coSigner.authorizersOf(quorum.userId)
    expect(added.authorizerId).not.toBe('')
    expect(authorizers).toHaveLength(2)
    const stranger = malloryClient.addKey((challenge) => passkey.prove(challenge))
    await expect(stranger).rejects.toThrow('no such authorizer of this user')
  })

  test.each<[string, Lies]>([
    ['from another origin', { origin: 'https://evil.test' }],
    ['for another relying party', { rpId: 'evil.test' }],
    ['without verifying the user', { userVerified: false }],
    ['that is an assertion', { type: 'webauthn.get' }],
  ])('is not registered %s', async (_title, lies) => {
    const { json } = await malloryClient.call('begin', { kind: 'passkey', label: 'bad' })
    const registration = passkey.authenticator.register(String(json.challenge), lies)
    const body = { ceremony_id: json.ceremony_id, ...registration }
    const { status, json: answer } = await malloryClient.call('finish', body)
    expect([status, (answer.error as { code: string }).code]).toEqual([403, 'NOT_CONFIRMED'])
  })

  test('that is the last one is not removed, so that none can come in its place', async () => {
    const only = malloryPasskey.authorizerId
    const { json } = await malloryClient.call('remove', { authorizer_id: only })
    const proof = malloryPasskey.prove(String(json.challenge))
    const done = await malloryClient.call('approve', { ceremony_id: json.ceremony_id, proof })
    expect(done.status).toBe(409)
  })
})

describe('22: a grant', () => {
  test('is enlarged by a passkey, and signs', async () => {
    const grant = newGrant(quorum, walletId)
    const asked = await askedOf(quorum, grant)
    const proof = passkeyProof(passkey.prove(asked.challenge), passkey.authorizerId)
    expect(await quorum.coSigner.putGrant(answered(grant, asked, proof))).toEqual({
      authorizedBy: 'passkey',
    })
    const { keyId, proofKey } = grant
    const wallet = {
      walletId,
      keyId,
      address: '0x' as const,
      proofKey: proofKey ?? randomBytes(32),
    }
    await signed(quorum, requestOf(wallet, transfer(0)))
  })

  test('is enlarged by a P-256 key', async () => {
    const grant = newGrant(quorum, walletId)
    const asked = await askedOf(quorum, grant)
    const { signature } = await key.prove(asked.challenge, grantMessage(asked.statement))
    const proof = keyProof(key.authorizerId, signature)
    expect(await quorum.coSigner.putGrant(answered(grant, asked, proof))).toEqual({
      authorizedBy: 'p256',
    })
  })

  test('is enlarged by a proof that was left with the identity provider', async () => {
    const grant = newGrant(quorum, walletId)
    const asked = await askedOf(quorum, grant)
    const again = await faultOf(quorum.coSigner.putGrant(answered(grant, asked, null)))
    expect(again.code).toBe('AUTHORIZATION_REQUIRED')
    const body = { grant: asked.statement.toString('base64url') }
    const proof = passkey.prove(asked.challenge)
    const others = await malloryClient.call('confirm', { ...body, proof })
    expect(others.status).toBe(403)
    expect((await client.call('confirm', { ...body, proof })).status).toBe(200)
    expect(await quorum.coSigner.putGrant(answered(grant, asked, null))).toEqual({
      authorizedBy: 'passkey',
    })
  })

  test('is not made with a console token alone, at either domain', async () => {
    const grant = newGrant(quorum, walletId)
    expect((await faultOf(quorum.coSigner.putGrant(grant))).code).toBe('AUTHORIZATION_REQUIRED')
    expect(await putAtUserSide(grant, 0, null)).toBe('NOT_CONFIRMED')
    // Nor by a token that a hostile identity provider mints: its owner is asked anyway.
    const consoleToken = await mintConsoleToken({ issuer: issuerOf(quorum.home), ...USER })
    const minted = await faultOf(quorum.coSigner.putGrant({ ...grant, consoleToken }))
    expect(minted.code).toBe('AUTHORIZATION_REQUIRED')
  })

  test.each<[string, Lies]>([
    ['from another origin', { origin: 'https://evil.test' }],
    ['for another relying party', { rpId: 'evil.test' }],
    ['without verifying the user', { userVerified: false }],
    ['with a counter that went back', { signCount: 1 }],
    ['that is a registration', { type: 'webauthn.create' }],
  ])('is not enlarged by an assertion %s, at either domain', async (_title, lies) => {
    const forge = (challenge: string) =>
      passkeyProof(passkey.authenticator.assert(challenge, lies), passkey.authorizerId)
    expect(await bothRefuse(newGrant(quorum, walletId), forge)).toEqual(REFUSED_BY_BOTH)
  })

  test('is not enlarged by another user’s passkey, or a key nobody registered', async () => {
    const theirs = (challenge: string) =>
      passkeyProof(malloryPasskey.prove(challenge), malloryPasskey.authorizerId)
    expect(await bothRefuse(newGrant(quorum, walletId), theirs)).toEqual(REFUSED_BY_BOTH)
    const posing = (challenge: string) =>
      passkeyProof(malloryPasskey.prove(challenge), passkey.authorizerId)
    expect(await bothRefuse(newGrant(quorum, walletId), posing)).toEqual(REFUSED_BY_BOTH)
    const stranger = strangerKey()
    const forged = async (_challenge: string, statement: Uint8Array) =>
      keyProof(key.authorizerId, base64Url(await stranger.sign(grantMessage(statement))))
    expect(await bothRefuse(newGrant(quorum, walletId), forged)).toEqual(REFUSED_BY_BOTH)
    const software = async (_challenge: string, statement: Uint8Array) =>
      encodeProof({
        kind: 'software',
        signature: await stranger.sign(grantMessage(statement)),
      })
    expect(await bothRefuse(newGrant(quorum, walletId), software)).toEqual(REFUSED_BY_BOTH)
  })

  test('is not enlarged by an assertion made for another grant', async () => {
    const small = newGrant(quorum, walletId, { allowedChains: [8453], dailyLimitMicros: 1n })
    const confirmBeforeMs = Date.now() + MINUTE_MS
    const { challenge } = statementOf(small, 1, confirmBeforeMs)
    const forSmall = passkeyProof(passkey.prove(challenge), passkey.authorizerId)
    const swapped = [
      { allowedChains: [1, 8453] },
      { dailyLimitMicros: null },
      { monthlyLimitMicros: 10n ** 18n },
      { unpricedAssets: 'allow' },
      { proofKey: randomBytes(32) },
      { keyId: newKeyId() },
      { expiresAt: Date.now() + 1_000 * MINUTE_MS },
    ] as const
    for (const change of swapped) {
      const larger = { ...small, ...change }
      expect(await putAtUserSide(larger, confirmBeforeMs, forSmall)).toBe('NOT_CONFIRMED')
    }
    expect(await bothRefuse(newGrant(quorum, walletId), () => forSmall)).toEqual(REFUSED_BY_BOTH)
    expect(await putAtUserSide(small, confirmBeforeMs, forSmall)).toBe('none')
  })

  test('that the service makes by itself signs nothing, whatever it writes down at home', async () => {
    const own = strangerKey()
    const forms = [
      newGrant(quorum, walletId),
      newGrant(quorum, walletId, { consoleToken: null }),
      newGrant(quorum, walletId, { effect: 'narrows' }),
    ]
    for (const grant of forms) {
      const confirmBeforeMs = Date.now() + MINUTE_MS
      const { statement } = statementOf(grant, 1, confirmBeforeMs)
      const signature = await own.sign(grantMessage(statement))
      const proofs = [
        null,
        // As if its key were one of the user's, or the software authorizer of dev.
        keyProof(key.authorizerId, base64Url(signature)),
        encodeProof({ kind: 'software', signature }),
        // Its own co-signer key, which the registry names.
        keyProof(key.authorizerId, base64Url(await service.signer.sign(grantMessage(statement)))),
      ]
      for (const proof of proofs) {
        expect(['NOT_CONFIRMED', 'NOT_GRANTED']).toContain(
          await putAtUserSide(grant, confirmBeforeMs, proof),
        )
      }
      const wallet: ReadyWallet = {
        walletId,
        keyId: grant.keyId,
        address: '0x',
        proofKey: grant.proofKey ?? randomBytes(32),
      }
      expect(await judged(service, (seq) => intentFor(wallet, transfer(900), seq))).toBe(
        'UNKNOWN_KEY',
      )
    }
  })

  test('that was taken back is not restored by the proof it once had', async () => {
    const small = newGrant(quorum, walletId, { allowedChains: [8453] })
    const large = { ...small, allowedChains: [1, 8453] }
    const confirmBeforeMs = Date.now() + MINUTE_MS
    const first = passkey.prove(statementOf(small, 1, confirmBeforeMs).challenge)
    const proofOfSmall = passkeyProof(first, passkey.authorizerId)
    expect(await putAtUserSide(small, confirmBeforeMs, proofOfSmall)).toBe('none')
    const second = passkey.prove(statementOf(large, 2, confirmBeforeMs).challenge)
    const proofOfLarge = passkeyProof(second, passkey.authorizerId)
    expect(await putAtUserSide(large, confirmBeforeMs, proofOfLarge)).toBe('none')
    // Taking away needs no token at all.
    expect(await putAtUserSide({ ...small, consoleToken: null }, 0, null)).toBe('none')
    expect(await putAtUserSide(large, confirmBeforeMs, proofOfLarge)).toBe('NOT_CONFIRMED')
    expect(await putAtUserSide(large, 0, null)).toBe('NOT_CONFIRMED')
  })

  test('is not enlarged too late, nor by a proof that is good for days', async () => {
    const grant = newGrant(quorum, walletId)
    for (const confirmBeforeMs of [Date.now() - 1, Date.now() + 24 * 60 * MINUTE_MS]) {
      const { challenge } = statementOf(grant, 1, confirmBeforeMs)
      const proof = passkeyProof(passkey.prove(challenge), passkey.authorizerId)
      expect(await putAtUserSide(grant, confirmBeforeMs, proof)).toBe('NOT_CONFIRMED')
    }
  })

  test('is not enlarged by a rotation, not even with a good proof', async () => {
    const grant = newGrant(quorum, walletId, { dailyLimitMicros: 5_000_000n })
    const asked = await askedOf(quorum, grant)
    const proof = passkeyProof(passkey.prove(asked.challenge), passkey.authorizerId)
    await quorum.coSigner.putGrant(answered(grant, asked, proof))
    const next = {
      ...grant,
      keyId: newKeyId(),
      rotatedFrom: grant.keyId,
      effect: 'narrows',
    } as const
    for (const change of [{ allowedChains: [1, 8453] }, { dailyLimitMicros: 6_000_000n }]) {
      const confirmBeforeMs = Date.now() + MINUTE_MS
      const larger = { ...next, ...change }
      const { challenge } = statementOf(larger, 2, confirmBeforeMs)
      const good = passkeyProof(passkey.prove(challenge), passkey.authorizerId)
      expect(await putAtUserSide(larger, confirmBeforeMs, good)).toBe('NOT_GRANTED')
    }
    expect(await quorum.coSigner.putGrant(next)).toEqual({ authorizedBy: null })
  })

  test('is not confirmed by an authorizer that was removed', async () => {
    const spare = await client.addPasskey((challenge) => passkey.prove(challenge))
    const { json } = await client.call('remove', { authorizer_id: spare.authorizerId })
    const proof = passkey.prove(String(json.challenge))
    await client.call('approve', { ceremony_id: json.ceremony_id, proof })
    const removed = (challenge: string) => passkeyProof(spare.prove(challenge), spare.authorizerId)
    expect(await bothRefuse(newGrant(quorum, walletId), removed)).toEqual(REFUSED_BY_BOTH)
  })

  test('with garbage for a proof is refused, and nothing falls over', async () => {
    const grant = newGrant(quorum, walletId)
    const confirmBeforeMs = Date.now() + MINUTE_MS
    const { challenge } = statementOf(grant, 1, confirmBeforeMs)
    const good = passkeyProof(passkey.prove(challenge), passkey.authorizerId)
    for (let at = 0; at < good.length; at += 7) {
      const flipped = Buffer.from(good)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      expect(['NOT_CONFIRMED', 'MALFORMED']).toContain(
        await putAtUserSide(grant, confirmBeforeMs, flipped),
      )
    }
    expect(decodeProof(good).kind).toBe('passkey')
    expect(await putAtUserSide(grant, confirmBeforeMs, good)).toBe('none')
  })
})

type Forge = (challenge: string, statement: Uint8Array) => Promise<Uint8Array> | Uint8Array

const REFUSED_BY_BOTH = { service: 'AUTHORIZATION_REFUSED', userSide: 'NOT_CONFIRMED' }

/** What each domain answers to a forged proof: the honest service, and the user side of a hostile one. */
async function bothRefuse(grant: ReturnType<typeof newGrant>, forge: Forge) {
  const asked = await askedOf(quorum, grant)
  const proof = await forge(asked.challenge, asked.statement)
  const { code } = await faultOf(quorum.coSigner.putGrant(answered(grant, asked, proof)))
  return { service: code, userSide: await putAtUserSide(grant, asked.confirmBeforeMs, proof) }
}

function putAtUserSide(
  grant: ReturnType<typeof newGrant>,
  confirmBeforeMs: number,
  proof: Uint8Array | null,
) {
  return refusalOf(service.userSide.call('grant-put', grantPut(grant, confirmBeforeMs, proof)))
}

function base64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
