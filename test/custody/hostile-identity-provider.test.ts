import { createPrivateKey, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorizerName } from '../../src/custody/authorizers/authorizer.js'
import { foldEntry, NO_AUTHORIZERS } from '../../src/custody/authorizers/authorizer-set.js'
import { openAuthorizerStore } from '../../src/custody/authorizers/authorizer-store.js'
import {
  type AuthorizerCertificate,
  type AuthorizerEntry,
  authorizerIdOf,
  certificateMessage,
  encodeCertificate,
  encodeEntry,
  entryMessage,
} from '../../src/custody/authorizers/certificate.js'
import { grantMessage } from '../../src/custody/authorizers/grant-statement.js'
import { encodeProof } from '../../src/custody/authorizers/proof.js'
import {
  identityProviderSocket,
  serviceLayout,
  softwareAuthorizerPath,
  userSideLayout,
} from '../../src/custody/domain-keys/layout.js'
import { type SubWalletId, ulidBytes } from '../../src/domain/ids.js'
import { laneStart } from '../../src/quorum-protocol/batch.js'
import { expectBytes } from '../../src/quorum-protocol/bytes.js'
import { pointOf, randomScalar } from '../../src/quorum-protocol/curve.js'
import { commitmentOf } from '../../src/quorum-protocol/keygen.js'
import { USER_SIDE } from '../../src/quorum-protocol/methods/user-side.js'
import { type P256Signer, p256SignerOf } from '../../src/quorum-protocol/p256.js'
import { type SocketServer, serveSocket } from '../../src/quorum-protocol/server.js'
import { ownerHashOf } from '../../src/service-custody/grant-authority.js'
import { connectAuthorizers, type Passkey } from './authorizer-client.js'
import {
  answered,
  askedOf,
  faultOf,
  keyProof,
  newGrant,
  passkeyProof,
  statementOf,
} from './grants.js'
import { newWalletId, type Quorum, startQuorum, USER, WEBAUTHN } from './harness.js'
import { strangerKey } from './hostile.js'

/**
 * The identity provider gone bad: it has its approval key, mints console tokens for whomever it
 * likes, and answers the service as it likes. A user whose authorizers the service knows must lose
 * nothing by it but availability.
 */
const MINUTE_MS = 60_000

let quorum: Quorum
let walletId: SubWalletId
let passkey: Passkey
let approver: P256Signer
let software: P256Signer
let server: SocketServer | null = null
/** What the bad one answers to each call. */
let answers: Record<string, (parameters: readonly unknown[]) => unknown> = {}

beforeAll(async () => {
  quorum = await startQuorum()
  walletId = newWalletId()
  await quorum.coSigner.createWallet(walletId, quorum.userId)
  const origin = WEBAUTHN.origins[0] ?? ''
  const client = await connectAuthorizers(quorum.home, USER, { rpId: WEBAUTHN.rp_id, origin })
  passkey = await client.addPasskey()
  await quorum.coSigner.authorizersOf(quorum.userId)
  approver = keyAt(userSideLayout(quorum.home).signingKey)
  software = keyAt(softwareAuthorizerPath(quorum.home))
  await quorum.identityProvider.kill()
  const answer = (method: string) => async (parameters: readonly unknown[]) =>
    answers[method]?.(parameters) ?? null
  server = await serveSocket({
    path: identityProviderSocket(quorum.home),
    methods: USER_SIDE,
    handlers: {
      hello: async () => [laneStart(1_000) / 2 ** 24, 0],
      'authorizers-get': answer('authorizers-get'),
      'grant-get': answer('grant-get'),
      'grant-put': answer('grant-put'),
      'proof-get': answer('proof-get'),
      'keygen-commit': answer('keygen-commit'),
      'keygen-reveal': answer('keygen-reveal'),
      'keygen-prove': answer('keygen-prove'),
      'keygen-status': () => null,
    },
    onFault: () => undefined,
  })
})
afterAll(async () => {
  await server?.close()
  await quorum?.close()
})

describe('22: an identity provider gone bad', () => {
  test('adds no authorizer of its own to a user’s', async () => {
    const own = strangerKey()
    const unapproved = await entryOf(own, 'nobody')
    answers = honestButFor({ 'authorizers-get': () => [encodeEntry(unapproved)] })
    expect((await faultOf(enlargementOnceItAnswers())).code).toBe('AUTHORIZATION_REFUSED')
    const selfApproved = await entryOf(own, 'itself')
    answers = honestButFor({ 'authorizers-get': () => [encodeEntry(selfApproved)] })
    expect((await faultOf(enlargement())).code).toBe('AUTHORIZATION_REFUSED')
    const store = openAuthorizerStore(serviceLayout(quorum.home).ledger)
    expect(store.setOf(ownerHashOf(quorum.userId)).active).toHaveLength(1)
  })

  test('enlarges nothing by a token it minted, with or without a proof of its making', async () => {
    answers = honestButFor({})
    const grant = newGrant(quorum, walletId)
    const asked = await askedOf(quorum, grant)
    const own = strangerKey()
    const forged = keyProof(
      authorizerName(authorizerIdOf(Buffer.alloc(0), own.publicKey)),
      (await own.sign(grantMessage(asked.statement))).toString('base64url'),
    )
    const byKey = await faultOf(quorum.coSigner.putGrant(answered(grant, asked, forged)))
    expect(byKey.code).toBe('AUTHORIZATION_REFUSED')
    const bySoftware = encodeProof({
      kind: 'software',
      signature: await software.sign(grantMessage(asked.statement)),
    })
    answers = honestButFor({ 'proof-get': () => bySoftware })
    const left = await faultOf(quorum.coSigner.putGrant(answered(grant, asked, null)))
    expect(left.code).toBe('AUTHORIZATION_REFUSED')
  })

  test('swaps no proof for another on the way back', async () => {
    const grant = newGrant(quorum, walletId)
    const other = newGrant(quorum, walletId)
    const { challenge } = statementOf(other, 1, Date.now() + MINUTE_MS)
    const forOther = passkeyProof(passkey.prove(challenge), passkey.authorizerId)
    for (const taken of [forOther, Buffer.alloc(0)]) {
      answers = honestButFor({ 'grant-put': () => [ulidBytes(grant.keyId), 1, taken] })
      const asked = await askedOf(quorum, grant)
      const proof = passkeyProof(passkey.prove(asked.challenge), passkey.authorizerId)
      const { code } = await faultOf(quorum.coSigner.putGrant(answered(grant, asked, proof)))
      expect(code).toBe('AUTHORIZATION_REFUSED')
    }
    // As long as it answers truly, all is well.
    answers = honestButFor({})
    const asked = await askedOf(quorum, grant)
    const proof = passkeyProof(passkey.prove(asked.challenge), passkey.authorizerId)
    expect(await quorum.coSigner.putGrant(answered(grant, asked, proof))).toEqual({
      authorizedBy: 'passkey',
    })
  })
})

describe('16: key generation with an identity provider gone bad', () => {
  test('takes no point that was chosen after seeing the service’s', async () => {
    const reveal = { point: pointOf(randomScalar()), nonce: randomBytes(32) }
    const rogue = { point: pointOf(randomScalar()), nonce: reveal.nonce }
    const reached: string[] = []
    answers = {
      'keygen-commit': ([sessionId]) => [commitmentOf('user', reveal, expectBytes(sessionId))],
      'keygen-reveal': () => [rogue.point, rogue.nonce],
      'keygen-prove': () => {
        reached.push('proof')
        return [Buffer.alloc(65), Buffer.alloc(64), Buffer.alloc(80), Buffer.alloc(16)]
      },
    }
    const create = () => quorum.coSigner.createWallet(newWalletId(), quorum.userId)
    await expect(create()).rejects.toThrow('reveal does not match its commitment')
    expect(reached).toEqual([])
    // Nor one whose secret it cannot show.
    answers = { ...answers, 'keygen-reveal': () => [reveal.point, reveal.nonce] }
    await expect(create()).rejects.toThrow('proof of possession')
    expect(reached).toEqual(['proof'])
  })
})

function honestButFor(lies: typeof answers): typeof answers {
  return {
    'authorizers-get': () => [],
    'grant-get': ([keyId]) => [keyId, 0],
    'grant-put': ([keyId, ...rest]) => [keyId, 1, rest[9] ?? Buffer.alloc(0)],
    'proof-get': () => null,
    ...lies,
  }
}

function enlargement(): Promise<unknown> {
  return quorum.coSigner.putGrant(newGrant(quorum, walletId))
}

/** The connection to the bad one comes by itself, a moment after its socket is there. */
async function enlargementOnceItAnswers(): Promise<unknown> {
  for (;;) {
    const { code } = await faultOf(enlargement())
    if (code !== 'COSIGNER_UNAVAILABLE') return enlargement()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A certificate of a key of its own as the user's second, approved by nobody or by itself. */
async function entryOf(key: P256Signer, approvedBy: 'nobody' | 'itself'): Promise<AuthorizerEntry> {
  const nothing = Buffer.alloc(0)
  const store = openAuthorizerStore(serviceLayout(quorum.home).ledger)
  const ownerHash = ownerHashOf(quorum.userId)
  const { sequence, head } = store.entriesAfter(ownerHash, 0).reduce(foldEntry, NO_AUTHORIZERS)
  const request: AuthorizerCertificate = {
    action: 'add',
    ownerHash,
    sequence: sequence + 1,
    previous: head,
    createdAtMs: Date.now(),
    nonce: randomBytes(16),
    kind: 'p256',
    label: 'not yours',
    authorizerId: authorizerIdOf(nothing, key.publicKey),
    credentialId: nothing,
    publicKey: key.publicKey,
  }
  const certificate = encodeCertificate(request)
  const possession = await key.sign(certificateMessage(certificate))
  const approval =
    approvedBy === 'itself'
      ? encodeProof({ kind: 'p256', authorizerId: request.authorizerId, signature: possession })
      : nothing
  const unsigned = { certificate, possession, approval }
  return { ...unsigned, userSignature: await approver.sign(entryMessage(unsigned)) }
}

function keyAt(path: string): P256Signer {
  return p256SignerOf(createPrivateKey(readFileSync(path)))
}
