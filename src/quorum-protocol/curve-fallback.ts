import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToNumberBE, numberToBytesBE } from '@noble/curves/utils.js'

/**
 * The curve in JavaScript, for development on a machine without the native binding. It is ten times
 * slower and leaves copies of keys that nothing can wipe; live mode never loads it.
 */
const { Point } = secp256k1
const order = Point.Fn.ORDER

export const fallbackCurve = {
  /** Low s, RFC 6979; `recid` 0 or 1 names the parity of R. */
  ecdsaSign(digest: Uint8Array, scalar: Uint8Array, _options: object, out: Uint8Array) {
    const bytes = secp256k1.sign(digest, scalar, {
      prehash: false,
      lowS: true,
      format: 'recovered',
    })
    out.set(bytes.subarray(1))
    return { signature: out, recid: bytes[0] ?? 0 }
  },
  privateKeyVerify: (scalar: Uint8Array) => secp256k1.utils.isValidSecretKey(scalar),
  publicKeyCreate(scalar: Uint8Array, compressed: boolean, out: Uint8Array) {
    out.set(secp256k1.getPublicKey(scalar, compressed))
    return out
  },
  /** @throws when the sum is zero */
  privateKeyTweakAdd(scalar: Uint8Array, other: Uint8Array) {
    const sum = (bytesToNumberBE(scalar) + bytesToNumberBE(other)) % order
    if (sum === 0n) throw new Error('the sum is zero')
    scalar.set(numberToBytesBE(sum, 32))
    return scalar
  },
  /** @throws when a point is invalid or the sum is the point at infinity */
  publicKeyCombine(points: readonly Uint8Array[], compressed: boolean, out: Uint8Array) {
    const sum = points.map((point) => Point.fromBytes(point)).reduce((a, b) => a.add(b))
    sum.assertValidity()
    out.set(sum.toBytes(compressed))
    return out
  },
  publicKeyConvert(point: Uint8Array, compressed: boolean, out: Uint8Array) {
    out.set(Point.fromBytes(point).toBytes(compressed))
    return out
  },
  ecdsaRecover(
    signature: Uint8Array,
    recid: number,
    digest: Uint8Array,
    compressed: boolean,
    out: Uint8Array,
  ) {
    const parsed = secp256k1.Signature.fromBytes(signature, 'compact').addRecoveryBit(recid)
    out.set(parsed.recoverPublicKey(digest).toBytes(compressed))
    return out
  },
}
