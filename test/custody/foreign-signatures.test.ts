import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { systemTimers } from '../../src/clock/timers.js'
import type { WalletRecord } from '../../src/custody/domain-keys/wallet-record.js'
import { addressOf, pointOf, randomScalar, signDigest } from '../../src/quorum-protocol/curve.js'
import { NO_REFERENCE } from '../../src/quorum-protocol/intent.js'
import { p256SignerOf } from '../../src/quorum-protocol/p256.js'
import { digestOf, encodePayload } from '../../src/quorum-protocol/payload.js'
import type { SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import {
  completeBatch,
  coSignBatch,
  type PreparedIntent,
  type SignBatchContext,
} from '../../src/service-custody/sign-batch.js'
import { createSignatureChecks } from '../../src/service-custody/signature-checks.js'
import { DELEGATE, ROUTER, routerIntent, transfer } from './harness.js'

/** A quorum signer gone bad, which has the keys of wallets for the time of a signature. */
const key = randomScalar()
const otherKey = randomScalar()
const boot = randomBytes(16)
const signer = p256SignerOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
const checks = createSignatureChecks({ elapsedMs: () => performance.now(), onFault: () => {} })
afterAll(() => checks.close())

function walletOf(scalar: Uint8Array): WalletRecord {
  const point = pointOf(scalar)
  const certificate: WalletRecord['certificate'] = {
    ...{ walletId: randomBytes(16), kind: 'user', ownerHash: randomBytes(32), epoch: 1 },
    ...{ servicePoint: point, userPoint: point, transcript: randomBytes(32) },
  }
  const [sealedShare, encodedCertificate] = [Buffer.alloc(0), Buffer.alloc(0)]
  const proofs = {
    serviceSignature: NO_REFERENCE,
    userSignature: NO_REFERENCE,
    selfTest: NO_REFERENCE,
  }
  return {
    ...{ certificate, sealedShare, encodedCertificate, point, address: addressOf(point) },
    ...{ proofs, next: null },
  }
}

const wallet = walletOf(key)

function prepared(payload: SignPayload): PreparedIntent {
  const { type, bytes } = encodePayload(payload)
  return {
    ...{
      walletId: wallet.certificate.walletId,
      keyId: randomBytes(16),
      requestId: randomBytes(16),
    },
    ...{ replaces: null, proofKey: null, grant: null, approval: null },
    ...{ wallet, type, payload: bytes },
  }
}

/** What the service makes of these answers of the quorum signer, one an intent. */
async function outcomes(
  batch: readonly PreparedIntent[],
  answer: (item: PreparedIntent, index: number) => unknown,
) {
  const timers = systemTimers()
  const context: SignBatchContext = {
    ...{ signer, timers, checks },
    link: {
      quorum: { call: async () => batch.map(answer) },
    } as unknown as SignBatchContext['link'],
    session: {
      sealer: { boot, seal: () => Buffer.alloc(0) },
    } as unknown as SignBatchContext['session'],
    shares: { openShareInto: () => {} },
    evidence: { append: async () => {} },
  }
  const coSigned = await coSignBatch(batch, 2 ** 24 + 1, { signer, timers })
  const bitmap = 2 ** batch.length - 1
  const approved = {
    ...{ bitmap, approval: Buffer.alloc(64), quorumBoot: boot },
    ...{ answers: batch.map(() => null), shares: Buffer.alloc(0) },
  }
  return completeBatch(batch, coSigned, approved, context)
}

const payloads: readonly SignPayload[] = [
  transfer(0),
  transfer(0, { value: 1_001n }),
  { type: 'authorization', chainId: 8453, nonce: 1, delegate: DELEGATE },
  {
    ...{ type: 'router-intent', chainId: 8453, verifyingContract: ROUTER },
    intent: routerIntent('0x4444444444444444444444444444444444444444'),
  },
]
const batch = payloads.map(prepared)
const digests = batch.map((item) => digestOf(item.type, item.payload))
const at = (index: number) => digests[index] ?? Buffer.alloc(32)

describe('the service hands out no signature', () => {
  test('but one of the payload that was asked for, by the wallet’s own key', async () => {
    const honest = await outcomes(batch, (_, index) => signDigest(at(index), key))
    expect(honest.map(({ ok }) => ok)).toEqual(batch.map(() => true))
  })

  const lies: Readonly<Record<string, (index: number) => unknown>> = {
    'of the payload beside it': (index) => signDigest(at((index + 1) % digests.length), key),
    'of a digest that nobody asked for': () => signDigest(randomBytes(32), key),
    'of the same payload with a bit changed': (index) => {
      const digest = Buffer.from(at(index))
      digest[31] = (digest[31] ?? 0) ^ 1
      return signDigest(digest, key)
    },
    'by another wallet’s key': (index) => signDigest(at(index), otherKey),
    'with the parity of another point': (index) => {
      const signature = signDigest(at(index), key)
      signature[64] = (signature[64] ?? 0) ^ 1
      return signature
    },
    'that is cut off': (index) => signDigest(at(index), key).subarray(0, 64),
    'that is no signature': () => Buffer.alloc(65),
  }

  test.each(Object.keys(lies))('%s, of any kind of payload, in a batch or alone', async (what) => {
    const lie = (index: number) => lies[what]?.(index)
    const together = await outcomes(batch, (_, index) => lie(index))
    expect(together.map(({ ok }) => ok)).toEqual(batch.map(() => false))
    for (const [index, item] of batch.entries()) {
      expect(await outcomes([item], () => lie(index))).toEqual([
        expect.objectContaining({ ok: false }),
      ])
    }
    // One lie in a batch costs that intent alone.
    const one = await outcomes(batch, (_, index) =>
      index === 2 ? lie(index) : signDigest(at(index), key),
    )
    expect(one.map(({ ok }) => ok)).toEqual([true, true, false, true])
  })
})
