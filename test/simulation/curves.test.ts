import { generateKeyPairSync } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import * as realCurve from '../../src/quorum-protocol/curve.js'
import * as realP256 from '../../src/quorum-protocol/p256.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import * as realX25519 from '../../src/quorum-protocol/x25519.js'
import { chooseCurves } from './curves/choice.js'
import { standInP256 } from './curves/p256.js'
import { standInCurve } from './curves/secp256k1.js'
import { standInX25519 } from './curves/x25519.js'

const curve = standInCurve(realCurve)
const p256 = standInP256(realP256)
const x25519 = standInX25519(realX25519)

afterEach(() => chooseCurves(true))

/** What protocols rest on holds of the real ones, and of what stands for them. */
const BOTH = [
  ['the real curve', true],
  ['its stand-in', false],
] as const
/** Halves in some of which the highest bit is set, and sums that pass the group's order. */
const ROUNDS = 20

test.each(BOTH)('%s: halves sign together what the sum of their points verifies', (_, isReal) => {
  chooseCurves(isReal)
  for (let i = 0; i < ROUNDS; i++) {
    const [mine, others] = [curve.randomScalar(), curve.randomScalar()]
    const point = curve.addPoints(curve.pointOf(mine), curve.pointOf(others))
    const key = Buffer.from(mine)
    curve.addInto(key, others)
    const digest = sha256(Buffer.of(i))
    const signature = curve.signDigest(digest, key)
    expect(signature).toHaveLength(65)
    expect(signature[32]).toBeLessThan(0x80)
    expect(curve.isSignedBy(point, digest, signature)).toBe(true)
    expect(curve.recoverPoint(digest, signature)).toEqual(point)
  }
})

test.each(BOTH)('%s: of another digest, key or half a signature does not verify', (_, isReal) => {
  chooseCurves(isReal)
  const [mine, others] = [curve.randomScalar(), curve.randomScalar()]
  const point = curve.addPoints(curve.pointOf(mine), curve.pointOf(others))
  const digest = sha256(Buffer.of(1))
  const key = Buffer.from(mine)
  curve.addInto(key, others)
  const signature = curve.signDigest(digest, key)
  expect(curve.isSignedBy(point, sha256(Buffer.of(2)), signature)).toBe(false)
  expect(curve.isSignedBy(curve.pointOf(curve.randomScalar()), digest, signature)).toBe(false)
  for (const scalar of [mine, others, curve.randomScalar()]) {
    expect(curve.isSignedBy(point, digest, curve.signDigest(digest, scalar))).toBe(false)
  }
  const changed = Buffer.from(signature)
  changed[3] = (changed[3] ?? 0) ^ 1
  expect(curve.isSignedBy(point, digest, changed)).toBe(false)
  expect(curve.isSignedBy(point, digest, signature.subarray(1))).toBe(false)
})

test.each(BOTH)('%s of P-256: a signature is of one message by one key', async (_, isReal) => {
  chooseCurves(isReal)
  const [pair, another] = [keyPair(), keyPair()]
  const signer = p256.p256SignerOf(pair.privateKey)
  const message = Buffer.from('message')
  const signature = await signer.sign(message)
  const publicKey = p256.publicKeyFromRaw(signer.publicKey)
  expect(signature).toHaveLength(64)
  expect(p256.verifyP256(publicKey, message, signature)).toBe(true)
  expect(p256.verifyP256(publicKey, message, p256.lowS(signature))).toBe(true)
  expect(p256.verifyP256(publicKey, Buffer.from('another'), signature)).toBe(false)
  expect(p256.verifyP256(another.publicKey, message, signature)).toBe(false)
  expect(p256.verifyP256(publicKey, message, signature.subarray(1))).toBe(false)
})

test.each(BOTH)('%s of X25519: two ends agree, and nobody else with them', (_, isReal) => {
  chooseCurves(isReal)
  const [one, other, third] = [x25519.x25519Pair(), x25519.x25519Pair(), x25519.x25519Pair()]
  const secret = x25519.agreedSecret(one.privateKey, other.publicKey)
  expect(secret).toHaveLength(32)
  expect(x25519.agreedSecret(other.privateKey, one.publicKey)).toEqual(secret)
  expect(x25519.agreedSecret(third.privateKey, one.publicKey)).not.toEqual(secret)
  expect(x25519.agreedSecret(one.privateKey, third.publicKey)).not.toEqual(secret)
})

function keyPair() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}
