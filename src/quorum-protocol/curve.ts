import { randomFillSync } from 'node:crypto'
import { createRequire } from 'node:module'
import type * as Secp256k1 from 'secp256k1'
import { keccak256 } from '../domain/keccak.js'
import { fallbackCurve } from './curve-fallback.js'
import { Refusal } from './refusal.js'

/**
 * secp256k1 through libsecp256k1. The binding is required by its own path: the package's main entry
 * silently falls back to a JavaScript curve, which leaves copies of keys in memory that nothing can
 * wipe. Without the binding, a machine cannot start a signing process in live mode; in dev mode it
 * prints a warning and uses the JavaScript curve.
 *
 * Private scalars are Buffers that their owner wipes with `fill(0)`, never strings or big integers,
 * which cannot be wiped.
 */
const native = loadCurve()

/** Domain-separated 32-byte digest → 65 bytes r ‖ s ‖ yParity; RFC 6979 nonce, low s. */
export function signDigest(digest: Uint8Array, scalar: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(65)
  const { recid } = native.ecdsaSign(digest, scalar, {}, out.subarray(0, 64))
  // Above 1 the x coordinate exceeds the group's order; Ethereum has no encoding for that.
  if (recid > 1) throw new Refusal('INTERNAL', 'recovery id out of range')
  out[64] = recid
  return out
}

/** Returns a random scalar in its own Buffer; the caller wipes it. */
export function randomScalar(): Buffer {
  const scalar = Buffer.alloc(32)
  do randomFillSync(scalar)
  while (!native.privateKeyVerify(scalar))
  return scalar
}

/** 33 bytes, compressed. */
export function pointOf(scalar: Uint8Array): Buffer {
  return native.publicKeyCreate(scalar, true, Buffer.alloc(33)) as Buffer
}

/**
 * Adds `other` to `scalar` modulo the order, in place.
 * @throws when the sum is zero
 */
export function addInto(scalar: Uint8Array, other: Uint8Array): void {
  native.privateKeyTweakAdd(scalar, other)
}

/** @throws Refusal MALFORMED when a point is invalid or the sum is the point at infinity */
export function addPoints(a: Uint8Array, b: Uint8Array): Buffer {
  try {
    return native.publicKeyCombine([a, b], true, Buffer.alloc(33)) as Buffer
  } catch {
    throw new Refusal('MALFORMED', 'points do not add up to a public key')
  }
}

/** 20 bytes: the Ethereum address of a compressed point. */
export function addressOf(point: Uint8Array): Buffer {
  const uncompressed = native.publicKeyConvert(point, false, Buffer.alloc(65))
  return Buffer.from(keccak256(uncompressed.subarray(1)).subarray(12))
}

/** Returns the compressed point that made a 65-byte signature; null for an invalid signature. */
export function recoverPoint(digest: Uint8Array, signature: Uint8Array): Buffer | null {
  const yParity = signature[64]
  if (signature.length !== 65 || (yParity !== 0 && yParity !== 1)) return null
  try {
    return native.ecdsaRecover(
      signature.subarray(0, 64),
      yParity,
      digest,
      true,
      Buffer.allocUnsafe(33),
    ) as Buffer
  } catch {
    return null
  }
}

/** True when 65 bytes r ‖ s ‖ yParity over `digest` were made by the key of `point`. */
export function isSignedBy(point: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean {
  const recovered = recoverPoint(digest, signature)
  return recovered !== null && Buffer.compare(recovered, point) === 0
}

type Curve = Pick<
  typeof Secp256k1,
  | 'ecdsaSign'
  | 'privateKeyVerify'
  | 'publicKeyCreate'
  | 'privateKeyTweakAdd'
  | 'publicKeyCombine'
  | 'publicKeyConvert'
  | 'ecdsaRecover'
>

/** @throws Error when the binding is missing and the mode is not dev */
function loadCurve(): Curve {
  try {
    return createRequire(import.meta.url)('secp256k1/bindings.js') as Curve
  } catch (error) {
    if (process.env.COUNTERSIGN_MODE !== 'dev') throw error
    process.emitWarning(
      'the native secp256k1 binding is missing: signing in JavaScript, for development only',
    )
    return fallbackCurve as unknown as Curve
  }
}
