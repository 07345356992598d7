import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openShareStore, type ShareStore } from '../../src/custody/domain-keys/share-store.js'
import { ONE_CELL } from '../../src/domain/cells.js'
import {
  createShareRefresh,
  type ShareRefresh,
} from '../../src/identity-provider/vault/share-refresh.js'
import {
  createWalletKeygen,
  type KeygenContext,
  type WalletKeygen,
} from '../../src/identity-provider/vault/wallet-keygen.js'
import { addInto, pointOf, randomScalar, signDigest } from '../../src/quorum-protocol/curve.js'
import {
  certificateMessage,
  commitmentOf,
  decodeCertificate,
  encodeCertificate,
  proveShare,
  selfTestDigest,
  transcriptOf,
} from '../../src/quorum-protocol/keygen.js'
import { p256SignerOf, verifyP256 } from '../../src/quorum-protocol/p256.js'
import {
  negateInto,
  refreshCommitment,
  refreshDelta,
  refreshedCertificate,
} from '../../src/quorum-protocol/refresh.js'
import type { Registry } from '../../src/quorum-protocol/registry.js'

/** A key that is certified while another one comes to wait in its place. */

const WALLET = randomBytes(16)
const OWNER = randomBytes(32)
const coSigner = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const approver = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const service = p256SignerOf(coSigner.privateKey)

let home: string
let shares: ShareStore
let keygen: WalletKeygen
let refresh: ShareRefresh
/** What the user side sealed to the quorum signer last. */
let sealed = Buffer.alloc(0)
/** Of the evidence. */
let append: () => Promise<void>

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'countersign-keys-'))
  const layout = { shares: join(home, 'shares'), sharesCopy: join(home, 'copy') }
  shares = openShareStore('user', layout, [randomBytes(32)])
  keygen = createWalletKeygen()
  refresh = createShareRefresh()
  append = async () => {}
})
afterEach(async () => {
  await shares.close()
  rmSync(home, { recursive: true, force: true })
})

test('a key is not put to use by what proves the one before it', async () => {
  const first = await generated()
  const { certifying, goOn } = await certifiedMeanwhile('keygen', first)
  const second = await generated()
  goOn()
  await expect(certifying).rejects.toMatchObject({ code: 'CONFLICT' })
  await certify('keygen', second)
  expectInUse(second)
})

test('a refreshed share is not put to use by what proves the one before it', async () => {
  const key = await generated()
  await certify('keygen', key)
  const first = await refreshed(key)
  const { certifying, goOn } = await certifiedMeanwhile('refresh', first)
  const second = await refreshed(key)
  goOn()
  await expect(certifying).rejects.toMatchObject({ code: 'CONFLICT' })
  await certify('refresh', second)
  expectInUse(second)
})

test('a refresh that is certified twice at once is in use once', async () => {
  const key = await generated()
  await certify('keygen', key)
  const next = await refreshed(key)
  const { certifying, goOn } = await certifiedMeanwhile('refresh', next)
  const again = certify('refresh', next)
  goOn()
  await Promise.all([certifying, again])
  expectInUse(next)
})

/** The service keeps one share that waits: it lets go of the one before for what it begins again. */
test('a key is not put to use once the service has begun another one', async () => {
  const first = await generated()
  const { certifying, goOn } = await certifiedMeanwhile('keygen', first)
  await begunKey()
  goOn()
  await expect(certifying).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(shares.get(WALLET)).toBeNull()
  const second = await generated()
  await certify('keygen', second)
  expectInUse(second)
})

test('a share is not stored for a key that the service has given up', async () => {
  const [first, second] = [await begunKey(), await begunKey()]
  await expect(first.prove()).rejects.toMatchObject({ code: 'CONFLICT' })
  await second.prove()
  await certify('keygen', second.made())
  expectInUse(second.made())
})

test('a wallet that has its key begins no other, so that the service keeps its share', async () => {
  const key = await generated()
  await certify('keygen', key)
  await expect(begunKey()).rejects.toMatchObject({ code: 'CONFLICT' })
  expectInUse(key)
})

test('a refreshed share is not put to use once the service has begun another refresh', async () => {
  const key = await generated()
  await certify('keygen', key)
  const first = await refreshed(key)
  const { certifying, goOn } = await certifiedMeanwhile('refresh', first)
  const second = begunRefresh(key)
  goOn()
  await expect(certifying).rejects.toMatchObject({ code: 'CONFLICT' })
  expectInUse(key)
  await second.prepare()
  await certify('refresh', second.made())
  expectInUse(second.made())
})

test('a share is not prepared for a refresh that the service has given up', async () => {
  const key = await generated()
  await certify('keygen', key)
  const [first, second] = [begunRefresh(key), begunRefresh(key)]
  await expect(first.prepare()).rejects.toMatchObject({ code: 'CONFLICT' })
  await second.prepare()
  await certify('refresh', second.made())
  expectInUse(second.made())
})

interface Waiting {
  readonly certificate: Buffer
  readonly serviceShare: Buffer
  /** 65 bytes, as the quorum signer makes it of both shares. */
  readonly selfTest: Buffer
}

function context(): KeygenContext {
  return {
    cell: ONE_CELL,
    registry: { keysOf: () => [coSigner.publicKey] } as unknown as Registry,
    shares,
    signer: p256SignerOf(approver.privateKey),
    sealer: {
      boot: randomBytes(16),
      seal(share) {
        sealed = Buffer.from(share)
        return sealed
      },
    },
    evidence: { append: () => append() } as unknown as KeygenContext['evidence'],
  }
}

/** As far as the user side's stored share. */
async function generated(): Promise<Waiting> {
  const begun = await begunKey()
  await begun.prove()
  return begun.made()
}

/** As far as both sides' points are known, and the service has stored its share. */
async function begunKey() {
  const sessionId = randomBytes(16)
  const terms = { sessionId, walletId: WALLET, kind: 'user', ownerHash: OWNER, epoch: 1 } as const
  const serviceShare = randomScalar()
  const reveal = { point: pointOf(serviceShare), nonce: randomBytes(32) }
  const own = { ...reveal, commitment: commitmentOf('service', reveal, sessionId) }
  const wanted = { sessionId, walletId: WALLET, kind: 'user', ownerHash: OWNER } as const
  const { commitment } = keygen.commit({ ...wanted, commitment: own.commitment }, context())
  const { point, nonce } = keygen.reveal({ sessionId, ...reveal })
  const transcript = transcriptOf(terms, own, { point, nonce, commitment })
  const points = { servicePoint: own.point, userPoint: point }
  const certificate = encodeCertificate({ ...terms, ...points, transcript })
  const proof = proveShare('service', transcript, serviceShare)
  return {
    prove: () => keygen.prove({ sessionId, proof }, context()),
    made: () => waiting(certificate, serviceShare),
  }
}

/** As far as the user side's next stored share. */
async function refreshed(key: Waiting): Promise<Waiting> {
  const begun = begunRefresh(key)
  await begun.prepare()
  return begun.made()
}

/** As far as both sides' parts are known, and the service has stored its next share. */
function begunRefresh({ certificate, serviceShare }: Waiting) {
  const sessionId = randomBytes(16)
  const reveal = { part: randomScalar(), nonce: randomBytes(32) }
  const commitment = refreshCommitment(reveal, sessionId)
  const asked = { sessionId, walletId: WALLET, epoch: 1, commitment }
  const { part } = refresh.begin(asked, context())
  const delta = refreshDelta(reveal.part, part)
  const next = refreshedCertificate(decodeCertificate(certificate), delta, sessionId)
  negateInto(delta)
  const share = Buffer.from(serviceShare)
  addInto(share, delta)
  return {
    prepare: () => refresh.prepare({ sessionId, ...reveal }, context()),
    made: () => waiting(next.encoded, share),
  }
}

function waiting(certificate: Buffer, serviceShare: Buffer): Waiting {
  const key = Buffer.from(serviceShare)
  addInto(key, sealed)
  return { certificate, serviceShare, selfTest: signDigest(selfTestDigest(certificate), key) }
}

async function certify(
  of: 'keygen' | 'refresh',
  { certificate, selfTest }: Waiting,
): Promise<{ readonly userSignature: Uint8Array }> {
  const serviceSignature = await service.sign(certificateMessage(certificate))
  const fields = { walletId: WALLET, certificate, serviceSignature, selfTest }
  return (of === 'keygen' ? keygen : refresh).certify(fields, context())
}

/** Certified as far as the evidence, which takes its time. */
async function certifiedMeanwhile(of: 'keygen' | 'refresh', key: Waiting) {
  const [arrived, mayEnd] = [deferred(), deferred()]
  append = () => {
    arrived.resolve()
    return mayEnd.promise
  }
  const certifying = certify(of, key)
  // Its outcome is looked at later.
  certifying.catch(() => {})
  await arrived.promise
  return { certifying, goOn: mayEnd.resolve }
}

function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** The key whose shares the two sides hold is the one that was certified. */
function expectInUse({ certificate, serviceShare }: Waiting): void {
  const record = shares.get(WALLET)
  if (record?.proofs === null || record === null) throw new Error('no key in use')
  expect(record.encodedCertificate).toEqual(certificate)
  const { userSignature } = record.proofs
  expect(verifyP256(approver.publicKey, certificateMessage(certificate), userSignature)).toBe(true)
  const key = shares.openShare(record)
  addInto(key, serviceShare)
  expect(pointOf(key)).toEqual(record.point)
}
