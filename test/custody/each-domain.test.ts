import { createPrivateKey, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { approvalMessage, coSignMessage } from '../../src/quorum-protocol/batch.js'
import type { Intent } from '../../src/quorum-protocol/intent.js'
import { type P256Signer, p256SignerOf } from '../../src/quorum-protocol/p256.js'
import { encodePayload } from '../../src/quorum-protocol/payload.js'
import type { SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import { newGrant } from './grants.js'
import {
  DELEGATE,
  type Quorum,
  READY_MS,
  type ReadyWallet,
  ROUTER,
  readyWallet,
  routerIntent,
  STRANGER,
  startQuorum,
  transfer,
} from './harness.js'
import {
  approve,
  becomeService,
  coSign,
  type HostileService,
  intentFor,
  judged,
  refusalOf,
  sealOwn,
  sign,
  strangerKey,
} from './hostile.js'

/**
 * What one domain refuses must not rest on another one's having looked: the quorum signer is
 * asked here with approvals that verify, and the user side about every kind of payload.
 */
let quorum: Quorum
let service: HostileService
let wallet: ReadyWallet
let approver: P256Signer
let nonce = 0

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum, [8453])
  service = await becomeService(quorum)
  approver = p256SignerOf(createPrivateKey(readFileSync(userSideLayout(quorum.home).signingKey)))
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

describe('the quorum signer by itself signs nothing that', () => {
  test('1: a key other than the registered co-signer signed', async () => {
    const { batch, approval, own } = await approved()
    const stranger = strangerKey()
    const ids = batch.ids
    for (const kid of [stranger.kid, service.signer.kid]) {
      const coSigned = await coSign(stranger, await service.nextSeq(), batch.intents, kid)
      const forged = { ...coSigned, ids, header: batch.header }
      const asked = sign(service, forged, approval, approval.shares, own)
      expect(await refusalOf(asked)).toBe('UNAUTHENTIC')
    }
  })

  test('2: was swapped in after both approvals', async () => {
    const { batch, approval, own, seq } = await approved()
    const swapped = [intentFor(wallet, transfer(nonce++, { value: 1n }), seq)]
    const asked = sign(service, { ...batch, intents: swapped }, approval, approval.shares, own)
    expect(await refusalOf(asked)).toBe('UNAUTHENTIC')
  })

  test('3: belongs to another batch, whoever approved it', async () => {
    const first = await service.nextSeq()
    const intent = intentFor(wallet, transfer(nonce++), first)
    expect(await signedByBoth(() => intent, first + 7)).toBe('REPLAYED')
  })

  test('5: has expired, or would live longer than 30 seconds', async () => {
    for (const expiresAtMs of [Date.now() - 1, Date.now() + 60_000]) {
      expect(await forged(transfer(nonce++), { expiresAtMs })).toBe('EXPIRED')
    }
  })

  test('9: is not the one canonical encoding of its payload', async () => {
    const { bytes } = encodePayload(transfer(nonce++))
    const trailing = Buffer.concat([bytes, Buffer.of(0)])
    for (const payload of [trailing, bytes.subarray(0, -1), Buffer.of(2)]) {
      expect(await forged(transfer(0), { payload })).toBe('MALFORMED')
    }
  })

  test('21: is an authorization for every chain, or of a delegate that is not ours', async () => {
    const base = { type: 'authorization', chainId: 8453, delegate: DELEGATE } as const
    for (const change of [{ chainId: 0 }, { delegate: STRANGER }, { chainId: 137 }]) {
      expect(await forged({ ...base, nonce: nonce++, ...change })).toBe('PAYLOAD_NOT_ALLOWED')
    }
  })
})

describe('the user side approves nothing that', () => {
  test('4: is on a chain outside the grant, of whatever kind', async () => {
    const payloads: SignPayload[] = [
      transfer(0, { chainId: 1 }),
      { type: 'authorization', chainId: 1, nonce: 0, delegate: DELEGATE },
      {
        type: 'router-intent',
        chainId: 1,
        verifyingContract: ROUTER,
        intent: routerIntent(wallet.address),
      },
    ]
    for (const payload of payloads) {
      const answer = await judged(service, (seq) => intentFor(wallet, payload, seq))
      expect([payload.type, answer]).toEqual([payload.type, 'NOT_GRANTED'])
    }
  })

  test('6: names the grant as it was before it was narrowed', async () => {
    const narrowed = await readyWallet(quorum, [1, 8453])
    const { walletId, keyId } = narrowed
    const narrower = { keyId, proofKey: null, dailyLimitMicros: 1n, monthlyLimitMicros: 1n }
    await quorum.coSigner.putGrant(
      newGrant(quorum, walletId, { ...narrower, consoleToken: null, effect: 'narrows' }),
    )
    const naming = (grantVersion: number) =>
      judged(service, (seq) => intentFor(narrowed, transfer(nonce++), seq, { grantVersion }))
    expect(await naming(1)).toBe('STALE_GRANT')
    expect(await naming(3)).toBe('STALE_GRANT')
    expect(await naming(2)).toBe('approved')
  })

  test('8: carries the proof that belongs to another request', async () => {
    const PROOF_AT = 125
    const answer = await judged(service, (seq) => {
      const genuine = intentFor(wallet, transfer(nonce++), seq)
      const other = intentFor(wallet, transfer(nonce++, { value: 9n }), seq)
      genuine.copy(other, PROOF_AT, PROOF_AT, PROOF_AT + 32)
      return other
    })
    expect(answer).toBe('KEY_PROOF_MISSING')
  })

  test('3: it judged before it was started again', async () => {
    const seq = await service.nextSeq()
    const batch = await coSign(service.signer, seq, [intentFor(wallet, transfer(nonce++), seq)])
    expect((await approve(service, batch)).bitmap).toBe(1)
    await quorum.identityProvider.kill()
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    await expect.poll(() => service.userSide.connected, { timeout: 60_000 }).toBe(true)
    await service.nextSeq()
    expect(await refusalOf(approve(service, batch))).toBe('REPLAYED')
  })
})

/** A batch of one that the user side truly approved. */
async function approved() {
  const seq = await service.nextSeq()
  const batch = await coSign(service.signer, seq, [intentFor(wallet, transfer(nonce++), seq)])
  const approval = await approve(service, batch)
  return { seq, batch, approval, own: sealOwn(service, wallet, batch.ids) }
}

/** An intent that neither honest domain would make, under both domains' own keys. */
async function forged(payload: SignPayload, change: Partial<Intent> = {}) {
  const seq = await service.nextSeq()
  return signedByBoth(() => intentFor(wallet, payload, seq, change), seq)
}

/** What the quorum signer answers to one intent that both other domains' keys approve. */
async function signedByBoth(make: () => Buffer, batchSeq: number) {
  const batch = await coSign(service.signer, batchSeq, [make()])
  const message = approvalMessage(coSignMessage(batch.header, batch.ids), 1, service.sealer.boot)
  const approval = { bitmap: 1, signature: await approver.sign(message) }
  const own = sealOwn(service, wallet, batch.ids)
  const [answer] = await sign(service, batch, approval, randomBytes(80), own)
  return typeof answer === 'string' ? answer : 'signed'
}
