import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ulidBytes } from '../../src/domain/ids.js'
import { expectBytes, expectList } from '../../src/quorum-protocol/bytes.js'
import {
  addInto,
  addPoints,
  isSignedBy,
  pointOf,
  randomScalar,
} from '../../src/quorum-protocol/curve.js'
import {
  commitmentOf,
  encodeCertificate,
  proveShare,
  selfTestDigest,
  selfTestRequest,
  transcriptOf,
} from '../../src/quorum-protocol/keygen.js'
import { decodePayload, encodePayload, signingHash } from '../../src/quorum-protocol/payload.js'
import { bootMessage, encodeBoot } from '../../src/quorum-protocol/quorum-session.js'
import {
  allocateShares,
  POINT_BYTES,
  SHARE_BYTES,
} from '../../src/quorum-protocol/sealed-shares.js'
import type { SignPayload } from '../../src/quorum-protocol/sign-payload.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import { x25519Pair } from '../../src/quorum-protocol/x25519.js'
import {
  DELEGATE,
  newWalletId,
  type Quorum,
  type ReadyWallet,
  ROUTER,
  readyWallet,
  routerIntent,
  startQuorum,
  transfer,
} from './harness.js'
import {
  approve,
  type Batch,
  becomeService,
  coSign,
  type HostileService,
  intentFor,
  refusalOf,
  sealOwn,
  sign,
  strangerKey,
} from './hostile.js'

/**
 * ECDSA is linear in the key. A service that adds δ to its share gets a signature of the approved hash z
 * by another key, and that very signature is the wallet's own of z + r·δ, which nobody approved.
 */
let quorum: Quorum
let service: HostileService
let wallet: ReadyWallet
let nonce = 0

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
  service = await becomeService(quorum)
})
afterAll(async () => {
  await service?.close()
  await quorum?.close()
})

/** What a user's wallet signs, of each kind. */
const KINDS: Readonly<Record<string, () => SignPayload>> = {
  'a transaction': () => transfer(nonce++),
  'an authorization of our delegate': () => ({
    ...{ type: 'authorization', chainId: 8453, nonce: nonce++, delegate: DELEGATE },
  }),
  'a Router intent': () => ({
    ...{ type: 'router-intent', chainId: 8453, verifyingContract: ROUTER },
    intent: {
      ...routerIntent(wallet.address),
      nonce: BigInt(`0x${randomBytes(16).toString('hex')}`),
    },
  }),
}

async function approved(payloads: readonly SignPayload[]) {
  const seq = await service.nextSeq()
  const intents = payloads.map((payload, index) => intentFor(wallet, payload, seq, { index }))
  const batch = await coSign(service.signer, seq, intents)
  const approval = await approve(service, batch)
  expect(approval.answers).toEqual(payloads.map(() => null))
  return { batch, approval }
}

function walletPoint(): Uint8Array {
  return service.shares.get(ulidBytes(wallet.walletId))?.point ?? Buffer.alloc(POINT_BYTES)
}

function isWalletsOwn(payload: SignPayload, signature: unknown): boolean {
  const { type, bytes } = encodePayload(payload)
  const digest = signingHash(decodePayload(type, bytes), bytes)
  return isSignedBy(walletPoint(), digest, expectBytes(signature, 65))
}

describe('the quorum signer signs by the wallet’s own key alone', () => {
  test.each(Object.keys(KINDS))('%s: a share that was tilted gets no signature', async (kind) => {
    const payload = KINDS[kind]?.() ?? transfer(nonce++)
    const { batch, approval } = await approved([payload])
    const tilts = [randomScalar(), Buffer.concat([Buffer.alloc(31), Buffer.of(1)])]
    for (const tilt of tilts) {
      const tilted = sealOwn(service, wallet, batch.ids, (share) => addInto(share, tilt))
      expect(await sign(service, batch, approval, approval.shares, tilted)).toEqual(['UNAUTHENTIC'])
    }
    // The refusal spends nothing: with the share as it is, the same approval is signed.
    const own = sealOwn(service, wallet, batch.ids)
    const [signature] = await sign(service, batch, approval, approval.shares, own)
    expect(isWalletsOwn(payload, signature)).toBe(true)
  })

  test('a tilted share costs its own intent, and none beside it', async () => {
    const payloads = Object.values(KINDS).map((make) => make())
    const { batch, approval } = await approved(payloads)
    const shares = sealWith(batch, (place, share) => {
      if (place === 1) addInto(share, randomScalar())
    })
    const answers = await sign(service, batch, approval, approval.shares, shares)
    expect(answers[1]).toBe('UNAUTHENTIC')
    for (const place of [0, 2]) {
      expect(isWalletsOwn(payloads[place] ?? transfer(0), answers[place])).toBe(true)
    }
  })

  test('the point of the wallet is the identity provider’s word, which nobody else can change', async () => {
    const { batch, approval } = await approved([transfer(nonce++)])
    const tilt = randomScalar()
    const tilted = sealOwn(service, wallet, batch.ids, (share) => addInto(share, tilt))
    const record = service.shares.get(ulidBytes(wallet.walletId))
    if (record === null) throw new Error('no share')
    const other = tiltedPoint(record.point, tilt)
    const at = approval.shares.length - SHARE_BYTES - 16 - POINT_BYTES
    expect(Buffer.from(approval.shares.subarray(at, at + POINT_BYTES))).toEqual(
      Buffer.from(record.point),
    )
    const exchanged = Buffer.from(approval.shares)
    exchanged.set(other, at)
    expect(await refusalOf(sign(service, batch, approval, exchanged, tilted))).toBe('UNAUTHENTIC')
    const without = Buffer.concat([
      approval.shares.subarray(0, at),
      approval.shares.subarray(at + POINT_BYTES),
    ])
    expect(await refusalOf(sign(service, batch, approval, without, tilted))).toBe('MALFORMED')
  })

  test('a boot that the service forged gets no session with the user side, nor any share', async () => {
    const { publicKey } = x25519Pair()
    const bootId = randomBytes(16)
    const message = bootMessage(bootId, publicKey)
    const genuine = expectBytes(await service.quorum.call('boot', []))
    const forged = [
      { boot: bootId, publicKey, signature: await service.signer.sign(message) },
      { boot: bootId, publicKey, signature: await strangerKey().sign(message) },
      { boot: genuine.subarray(0, 16), publicKey, signature: genuine.subarray(48) },
    ].map(encodeBoot)
    for (const statement of forged) {
      expect(await refusalOf(service.userSide.call('session', [statement]))).toBe('UNAUTHENTIC')
    }
    // What it approves goes to the signer that runs, as before.
    const { batch, approval } = await approved([transfer(nonce++)])
    const own = sealOwn(service, wallet, batch.ids)
    expect(await sign(service, batch, approval, approval.shares, own)).toEqual([
      expect.any(Uint8Array),
    ])
  })

  test('the first signature of a new key is by that key, or is not made', async () => {
    const made = await beginKey()
    const tilted = Buffer.from(made.share)
    addInto(tilted, randomScalar())
    const selfTest = (share: Buffer) =>
      service.quorum.call('self-test', [
        made.certificate,
        made.request,
        made.userRequest,
        made.userShare,
        service.sealer.seal(share, [selfTestDigest(made.certificate)]),
      ])
    expect(await refusalOf(selfTest(tilted))).toBe('UNAUTHENTIC')
    expect(await selfTest(made.share)).toHaveLength(65)
  })
})

/** The service's shares of a batch, each changed by itself. */
function sealWith({ ids }: Batch, change: (place: number, share: Buffer) => void): Buffer {
  const record = service.shares.get(ulidBytes(wallet.walletId))
  if (record === null) throw new Error('no share')
  const shares = allocateShares(ids.length)
  ids.forEach((_, place) => {
    const share = shares.subarray(place * SHARE_BYTES, (place + 1) * SHARE_BYTES)
    service.shares.openShareInto(record, shares, place * SHARE_BYTES)
    change(place, share)
  })
  return service.sealer.seal(shares, ids)
}

/** The public key that a share with `tilt` added makes. */
function tiltedPoint(point: Uint8Array, tilt: Uint8Array): Uint8Array {
  return addPoints(point, pointOf(tilt))
}

/** A key as far as both other domains have approved its self-test. */
async function beginKey() {
  const [sessionId, walletId] = [randomBytes(16), ulidBytes(newWalletId())]
  const ownerHash = sha256(Buffer.from(quorum.userId))
  const share = randomScalar()
  const own = { point: pointOf(share), nonce: randomBytes(32) }
  const commitment = commitmentOf('service', own, sessionId)
  const begun = [sessionId, walletId, 1, ownerHash, commitment]
  const [answered] = expectList(await service.userSide.call('keygen-commit', begun), 1)
  const userCommitment = expectBytes(answered, 32)
  const [userPoint, userNonce] = expectList(
    await service.userSide.call('keygen-reveal', [sessionId, own.point, own.nonce]),
    2,
  )
  const user = { point: expectBytes(userPoint, 33), nonce: expectBytes(userNonce, 32) }
  const terms = { sessionId, walletId, kind: 'user', ownerHash, epoch: 1 } as const
  const transcript = transcriptOf(
    terms,
    { ...own, commitment },
    { ...user, commitment: userCommitment },
  )
  const proof = proveShare('service', transcript, share)
  const answer = await service.userSide.call('keygen-prove', [sessionId, proof])
  const [, userRequest, userShare] = expectList(answer, 4)
  const certificate = encodeCertificate({
    ...{ walletId, kind: 'user', ownerHash, epoch: 1, transcript },
    ...{ servicePoint: own.point, userPoint: user.point },
  })
  const request = await service.signer.sign(selfTestRequest(certificate, service.sealer.boot))
  return { share, certificate, request, userRequest, userShare }
}
