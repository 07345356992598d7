import { createPrivateKey, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { identityProviderSocket, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { grantedOf } from '../../src/domain/grant-terms.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { INITIAL_POLICY } from '../../src/domain/key-policy.js'
import { approvalMessage, coSignMessage } from '../../src/quorum-protocol/batch.js'
import { addInto, pointOf, randomScalar } from '../../src/quorum-protocol/curve.js'
import { commitmentOf } from '../../src/quorum-protocol/keygen.js'
import { p256SignerOf } from '../../src/quorum-protocol/p256.js'
import { encodePayload } from '../../src/quorum-protocol/payload.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import type { GrantUpdate } from '../../src/service-custody/co-signer.js'
import { grantPut, newGrant } from './grants.js'
import {
  DELEGATE,
  newKeyId,
  newWalletId,
  type Quorum,
  READY_MS,
  type ReadyWallet,
  ROUTER,
  readyWallet,
  requestOf,
  STRANGER,
  signed,
  startQuorum,
  transfer,
} from './harness.js'
import {
  approve,
  becomeService,
  coSign,
  dial,
  type HostileService,
  intentFor,
  judged,
  refusalOf,
  sealOwn,
  sign,
  strangerKey,
} from './hostile.js'

let quorum: Quorum
let service: HostileService
let wallet: ReadyWallet
let other: ReadyWallet
let nonce = 1_000

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum, [8453])
  other = await readyWallet(quorum)
  service = await becomeService(quorum)
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

describe('the user side approves nothing that', () => {
  test('1: a key other than the registered co-signer signed', async () => {
    const seq = await service.nextSeq()
    const intents = [intentFor(wallet, transfer(nonce++), seq)]
    const stranger = await coSign(strangerKey(), seq, intents)
    expect(await refusalOf(approve(service, stranger))).toBe('UNAUTHENTIC')
    const claimed = await coSign(strangerKey(), seq, intents, service.signer.kid)
    expect(await refusalOf(approve(service, claimed))).toBe('UNAUTHENTIC')
  })

  test('2: was swapped in after the co-signature', async () => {
    const seq = await service.nextSeq()
    const batch = await coSign(service.signer, seq, [intentFor(wallet, transfer(nonce++), seq)])
    const swapped = [intentFor(wallet, transfer(nonce++, { value: 1n }), seq)]
    expect(await refusalOf(approve(service, { ...batch, intents: swapped }))).toBe('UNAUTHENTIC')
  })

  test('3: it has judged before', async () => {
    const seq = await service.nextSeq()
    const intents = [intentFor(wallet, transfer(nonce++), seq)]
    const batch = await coSign(service.signer, seq, intents)
    expect((await approve(service, batch)).bitmap).toBe(1)
    expect(await refusalOf(approve(service, batch))).toBe('REPLAYED')
    const again = await coSign(service.signer, seq + 1, intents)
    expect((await approve(service, again)).answers).toEqual(['REPLAYED'])
  })

  test('4: is on a chain outside the grant', async () => {
    expect(
      await judged(service, (seq) => intentFor(wallet, transfer(nonce++, { chainId: 1 }), seq)),
    ).toBe('NOT_GRANTED')
  })

  test('5: has expired, or would live longer than 30 seconds', async () => {
    for (const expiresAtMs of [Date.now() - 1, Date.now() + 60_000]) {
      expect(
        await judged(service, (seq) => intentFor(wallet, transfer(nonce++), seq, { expiresAtMs })),
      ).toBe('EXPIRED')
    }
  })

  test('6: names another version of the grant', async () => {
    expect(
      await judged(service, (seq) =>
        intentFor(wallet, transfer(nonce++), seq, { grantVersion: 2 }),
      ),
    ).toBe('STALE_GRANT')
  })

  test('7: comes with the key of another wallet', async () => {
    const borrowed = { ...wallet, keyId: other.keyId, proofKey: other.proofKey }
    expect(await judged(service, (seq) => intentFor(borrowed, transfer(nonce++), seq))).toBe(
      'NOT_GRANTED',
    )
  })

  test('8: comes without proof that the API key was presented', async () => {
    for (const proofKey of [null, randomBytes(32)]) {
      expect(
        await judged(service, (seq) => intentFor(wallet, transfer(nonce++), seq, { proofKey })),
      ).toBe('KEY_PROOF_MISSING')
    }
  })

  test('9: is not the one canonical encoding of its payload', async () => {
    const { bytes } = encodePayload(transfer(nonce++))
    const trailing = Buffer.concat([bytes, Buffer.of(0)])
    const emptyList = Buffer.concat([bytes.subarray(0, -1), Buffer.of(0x80)])
    for (const payload of [trailing, emptyList, bytes.subarray(0, -1), Buffer.of(2)]) {
      expect(await judged(service, (seq) => intentFor(wallet, transfer(0), seq, { payload }))).toBe(
        'MALFORMED',
      )
    }
  })

  test('21: is an authorization for every chain, or of a delegate that is not ours', async () => {
    const base = { type: 'authorization', chainId: 8453, delegate: DELEGATE } as const
    for (const change of [{ chainId: 0 }, { delegate: STRANGER }]) {
      expect(
        await judged(service, (seq) =>
          intentFor(wallet, { ...base, nonce: nonce++, ...change }, seq),
        ),
      ).toBe('PAYLOAD_NOT_ALLOWED')
    }
  })

  test('26: moves value out of a gas wallet, or calls anything but the Router', async () => {
    const walletId = newWalletId()
    const { address } = await quorum.coSigner.createServiceWallet(walletId)
    const gas: ReadyWallet = { ...wallet, walletId, address }
    const none = { keyId: Buffer.alloc(16), grantId: Buffer.alloc(16), proofKey: null }
    const attempts = [
      transfer(0),
      transfer(0, { to: ROUTER, value: 1n }),
      transfer(0, { to: STRANGER, value: 0n, data: '0x1234' }),
    ]
    for (const attempt of attempts) {
      expect(await judged(service, (seq) => intentFor(gas, attempt, seq, none))).toBe(
        'PAYLOAD_NOT_ALLOWED',
      )
    }
    // The service grant does not reach a user's wallet.
    expect(
      await judged(service, (seq) =>
        intentFor(wallet, transfer(nonce++, { to: ROUTER, value: 0n }), seq, none),
      ),
    ).toBe('UNKNOWN_KEY')
  })
})

describe('the user side answers nothing', () => {
  const METHODS = ['session', 'approve', 'grant-get', 'grant-put', 'authorizers-get', 'proof-get']
  const KEYGEN = ['commit', 'reveal', 'prove', 'certify', 'status'].map((step) => `keygen-${step}`)
  const REFRESH = ['begin', 'prepare', 'certify'].map((step) => `refresh-${step}`)

  test('on a connection on which no start of the service has announced itself', async () => {
    const silent = await dial(identityProviderSocket(quorum.home))
    try {
      const statement = await service.quorum.call('boot', [])
      expect(await refusalOf(silent.call('session', [statement]))).toBe('NO_SESSION')
      for (const method of [...METHODS, ...KEYGEN, ...REFRESH]) {
        expect([method, await refusalOf(silent.call(method, []))]).toEqual([method, 'NO_SESSION'])
      }
    } finally {
      silent.close()
    }
    // Nor did it take the place of the session that is in use.
    await signed(quorum, requestOf(wallet, transfer(nonce++)))
  })
})

describe('a batch', () => {
  test('10: loses only its bad intents, at both other domains', async () => {
    const seq = await service.nextSeq()
    const good = [0, 2].map((index) => intentFor(wallet, transfer(nonce++), seq, { index }))
    const bad = intentFor(wallet, transfer(nonce++), seq, { index: 1, proofKey: null })
    const junk = randomBytes(200)
    const intents = [good[0] ?? junk, bad, good[1] ?? junk, junk]
    const batch = await coSign(service.signer, seq, intents)
    const approval = await approve(service, batch)
    expect(approval.bitmap).toBe(0b0101)
    expect(approval.answers).toEqual([null, 'KEY_PROOF_MISSING', null, 'MALFORMED'])
    const approved = batch.ids.filter((_, index) => index % 2 === 0)
    const own = sealOwn(service, wallet, approved)
    const results = await sign(service, batch, approval, approval.shares, own)
    expect(results).toEqual([
      expect.any(Uint8Array),
      'NOT_APPROVED',
      expect.any(Uint8Array),
      'NOT_APPROVED',
    ])
  })

  test('10: loses only the intent that became too old between the two domains', async () => {
    const approvedInTime = async (lifeMs: number) => {
      const seq = await service.nextSeq()
      const soon = Date.now() + lifeMs
      const intents = [{ index: 0 }, { index: 1, expiresAtMs: soon }].map((change) =>
        intentFor(wallet, transfer(nonce++), seq, change),
      )
      const batch = await coSign(service.signer, seq, intents)
      return { soon, batch, approval: await approve(service, batch) }
    }
    let lifeMs = 1_500
    let made = await approvedInTime(lifeMs)
    // A busy machine may take longer than that for the first domain alone.
    while (made.approval.bitmap !== 0b11 && lifeMs < 10_000) {
      lifeMs *= 2
      made = await approvedInTime(lifeMs)
    }
    const { soon, batch, approval } = made
    expect(approval.bitmap).toBe(0b11)
    const own = sealOwn(service, wallet, batch.ids)
    await vi.waitUntil(() => Date.now() > soon, { timeout: 60_000 })
    const results = await sign(service, batch, approval, approval.shares, own)
    expect(results).toEqual([expect.any(Uint8Array), 'EXPIRED'])
  })
})

describe('the quorum signer signs nothing that', () => {
  test('11: the service alone wants', async () => {
    const { batch, approval } = await oneApproved()
    const own = sealOwn(service, wallet, batch.ids)
    const forged = await strangerKey().sign(
      approvalMessage(coSignMessage(batch.header, batch.ids), 1, service.sealer.boot),
    )
    expect(
      await refusalOf(sign(service, batch, { bitmap: 1, signature: forged }, approval.shares, own)),
    ).toBe('UNAUTHENTIC')
    const coSigned = await service.signer.sign(
      approvalMessage(coSignMessage(batch.header, batch.ids), 1, service.sealer.boot),
    )
    expect(
      await refusalOf(
        sign(service, batch, { bitmap: 1, signature: coSigned }, approval.shares, own),
      ),
    ).toBe('UNAUTHENTIC')
  })

  test('12: the user side left out of its bitmap', async () => {
    const seq = await service.nextSeq()
    const refused = intentFor(wallet, transfer(nonce++), seq, { proofKey: null })
    const batch = await coSign(service.signer, seq, [refused])
    const approval = await approve(service, batch)
    expect(approval.bitmap).toBe(0)
    const own = sealOwn(service, wallet, batch.ids)
    expect(await refusalOf(sign(service, batch, { ...approval, bitmap: 1 }, own, own))).toBe(
      'UNAUTHENTIC',
    )
  })

  test('13: the identity provider alone wants', async () => {
    const userSigner = p256SignerOf(
      createPrivateKey(readFileSync(userSideLayout(quorum.home).signingKey)),
    )
    const seq = await service.nextSeq()
    const intents = [intentFor(wallet, transfer(nonce++), seq)]
    const batch = await coSign(userSigner, seq, intents, service.signer.kid)
    const signature = await userSigner.sign(
      approvalMessage(coSignMessage(batch.header, batch.ids), 1, service.sealer.boot),
    )
    const own = sealOwn(service, wallet, batch.ids)
    expect(await refusalOf(sign(service, batch, { bitmap: 1, signature }, own, own))).toBe(
      'UNAUTHENTIC',
    )
  })

  test('14: comes with a share that was sealed for another intent', async () => {
    const first = await oneApproved()
    const second = await oneApproved()
    const { batch, approval } = second
    const own = sealOwn(service, wallet, batch.ids)
    const others = sealOwn(service, wallet, first.batch.ids)
    for (const [userShares, serviceShares] of [
      [first.approval.shares, own],
      [approval.shares, others],
      [own, own],
      [approval.shares, approval.shares],
    ]) {
      const call = sign(service, batch, approval, userShares, serviceShares)
      expect(await refusalOf(call)).toMatch(/^(UNAUTHENTIC|NO_SESSION)$/)
    }
    // Nothing of that hurt the signer, nor spent the batch.
    const [signature] = await sign(service, batch, approval, approval.shares, own)
    expect(signature).toHaveLength(65)
  })

  test('14: comes with the shares of its own batch in another order, or fewer, or more', async () => {
    const seq = await service.nextSeq()
    const intents = [0, 1].map((index) => intentFor(wallet, transfer(nonce++), seq, { index }))
    const batch = await coSign(service.signer, seq, intents)
    const approval = await approve(service, batch)
    const [id = Buffer.alloc(32)] = batch.ids
    for (const ids of [batch.ids.toReversed(), [id], [...batch.ids, id]]) {
      const own = sealOwn(service, wallet, ids)
      expect(await refusalOf(sign(service, batch, approval, approval.shares, own))).toMatch(
        /^(UNAUTHENTIC|MALFORMED)$/,
      )
    }
  })

  test('20: joins shares of two epochs', async () => {
    expect(
      await judged(service, (seq) => intentFor(wallet, transfer(nonce++), seq, { epoch: 2 })),
    ).toBe('WRONG_EPOCH')
    const { batch, approval } = await oneApproved()
    // A share of another epoch differs by a δ that only both sides know: the sum is no key of
    // the wallet.
    const newer = sealOwn(service, wallet, batch.ids, (share) => addInto(share, randomScalar()))
    expect(await sign(service, batch, approval, approval.shares, newer)).toEqual(['UNAUTHENTIC'])
  })
})

describe('a nonce', () => {
  test('15: that was approved is not approved for another payload, even after a restart', async () => {
    const at = nonce++
    const first = await signed(quorum, requestOf(wallet, transfer(at)))
    await quorum.identityProvider.kill()
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    const taken = await quorum.coSigner.sign(requestOf(wallet, transfer(at, { value: 9n })))
    expect(taken).toMatchObject({ ok: false, reason: 'NONCE_TAKEN' })
    expect(Buffer.from((taken.ok ? undefined : taken.takenBy) ?? '')).toEqual(
      Buffer.from(first.intentId),
    )
    // The very same payload is no second payload: it gets the very same signature.
    const again = await signed(quorum, requestOf(wallet, transfer(at), { proofKey: null }))
    expect(again.rawTransaction).toBe(first.rawTransaction)
    await vi.waitUntil(() => service.userSide.connected, { timeout: 60_000 })
    await service.nextSeq()
  })

  test('takes a fee bump and a cancel without a key, and nothing else', async () => {
    const at = nonce++
    const first = await signed(quorum, requestOf(wallet, transfer(at)))
    const bump = (replaces: Uint8Array | null, change = {}) =>
      requestOf(wallet, transfer(at, { maxFeePerGas: 3_000_000_000n, ...change }), {
        proofKey: null,
        replaces,
      })
    expect(await quorum.coSigner.sign(bump(null))).toMatchObject({ reason: 'NONCE_TAKEN' })
    expect(await quorum.coSigner.sign(bump(first.intentId, { value: 2n }))).toMatchObject({
      reason: 'REFUSED',
    })
    const second = await signed(quorum, bump(first.intentId))
    expect(
      await quorum.coSigner.sign(bump(first.intentId, { maxFeePerGas: 4_000_000_000n })),
    ).toMatchObject({
      reason: 'NONCE_TAKEN',
    })
    const cancel = { to: wallet.address, value: 0n, maxFeePerGas: 3_375_000_000n }
    const tooDear = { ...cancel, maxFeePerGas: 3_375_000_001n }
    expect(await quorum.coSigner.sign(bump(second.intentId, tooDear))).toMatchObject({
      ...{ reason: 'REFUSED', detail: 'PAYLOAD_NOT_ALLOWED' },
    })
    await signed(quorum, bump(second.intentId, cancel))
  })
})

describe('key generation', () => {
  test('16: does not take a point that was chosen after seeing the other one', async () => {
    const sessionId = randomBytes(16)
    const owner = sha256(Buffer.from(quorum.userId))
    const walletId = ulidBytes(newWalletId())
    const honest = { point: pointOf(randomScalar()), nonce: randomBytes(32) }
    const commitment = commitmentOf('service', honest, sessionId)
    await service.userSide.call('keygen-commit', [sessionId, walletId, 1, owner, commitment])
    const rogue = [sessionId, pointOf(randomScalar()), honest.nonce]
    expect(await refusalOf(service.userSide.call('keygen-reveal', rogue))).toBe('UNAUTHENTIC')
    await service.userSide.call('keygen-reveal', [sessionId, honest.point, honest.nonce])
    // Nor one whose secret nobody can show.
    const proof = Buffer.alloc(65, 1)
    expect(await refusalOf(service.userSide.call('keygen-prove', [sessionId, proof]))).toBe(
      'UNAUTHENTIC',
    )
    expect(await service.userSide.call('keygen-status', [walletId])).toBeNull()
  })
})

describe('a grant', () => {
  test('22: is not made by the service alone, and not with another user’s wallet', async () => {
    const grant = (change: Partial<GrantUpdate>, confirmation: Uint8Array | null = null) => {
      const update = newGrant(quorum, wallet.walletId, { consoleToken: '', ...change })
      return service.userSide.call('grant-put', grantPut(update, 0, confirmation))
    }
    expect(await refusalOf(grant({}))).toBe('NOT_GRANTED')
    expect(await refusalOf(grant({ consoleToken: 'e30.e30.e30' }))).toBe('NOT_GRANTED')
    const { consoleToken } = quorum
    expect(await refusalOf(grant({ consoleToken, userId: 'mallory' }))).toBe('NOT_GRANTED')
    // A console token alone enlarges nothing: a confirmation that is not the user's is refused.
    expect(await refusalOf(grant({ consoleToken }, Buffer.alloc(64, 1)))).toBe('NOT_CONFIRMED')
    const rotation = { rotatedFrom: wallet.keyId, allowedChains: [1, 8453] }
    expect(await refusalOf(grant({ consoleToken, ...rotation }))).toBe('NOT_GRANTED')
  })

  test('rotation gives the new key the old one’s grant and nothing more', async () => {
    const rotating = await readyWallet(quorum, [8453])
    const next = { ...rotating, keyId: newKeyId(), proofKey: randomBytes(32) }
    await quorum.coSigner.putGrant({
      ...grantedOf(INITIAL_POLICY),
      keyId: next.keyId,
      rotatedFrom: rotating.keyId,
      walletId: rotating.walletId,
      userId: quorum.userId,
      permission: 'trade',
      allowedChains: [8453],
      proofKey: next.proofKey,
      expiresAt: null,
      revoked: false,
      consoleToken: quorum.consoleToken,
      effect: 'narrows',
      authorization: null,
    })
    await signed(quorum, requestOf(next, transfer(0)))
    await signed(quorum, requestOf(rotating, transfer(1)))
    expect(await quorum.coSigner.sign(requestOf(next, transfer(2, { chainId: 1 })))).toMatchObject({
      reason: 'REFUSED',
      detail: 'NOT_GRANTED',
    })
  })

  test('that is revoked signs nothing more', async () => {
    const revoked = await readyWallet(quorum)
    await quorum.coSigner.putGrant({
      ...grantedOf(INITIAL_POLICY),
      keyId: revoked.keyId,
      rotatedFrom: null,
      walletId: revoked.walletId,
      userId: quorum.userId,
      permission: 'trade',
      allowedChains: [1, 8453],
      proofKey: null,
      expiresAt: null,
      revoked: true,
      consoleToken: null,
      effect: 'narrows',
      authorization: null,
    })
    expect(await quorum.coSigner.sign(requestOf(revoked, transfer(0)))).toMatchObject({
      reason: 'REFUSED',
      detail: 'NOT_GRANTED',
    })
  })
})

async function oneApproved(payload = transfer(nonce++)) {
  const seq = await service.nextSeq()
  const batch = await coSign(service.signer, seq, [intentFor(wallet, payload, seq)])
  return { batch, approval: await approve(service, batch) }
}
