import { concat, sameBytes } from './bytes.js'
import { addInto, addPoints, pointOf } from './curve.js'
import { type Certificate, encodeCertificate } from './keygen.js'
import { Refusal } from './refusal.js'
import { TAG, taggedHash } from './tagged.js'

/**
 * Proactive refresh of one wallet's shares: `d_u + δ` and `d_s − δ` replace `d_u` and `d_s`. The
 * key, and so the address, stays; a share stolen before is useless together with one stolen after.
 * δ is the sum of both sides' random parts, the service's behind a commitment, so that neither side
 * chooses it.
 */
interface RefreshReveal {
  /** 32 bytes, a scalar; the owner wipes it. */
  readonly part: Uint8Array
  /** 32 bytes. */
  readonly nonce: Uint8Array
}

/** Order of secp256k1 (SEC 2, 2.4.1). */
const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex')

export function refreshCommitment(reveal: RefreshReveal, sessionId: Uint8Array): Buffer {
  return taggedHash(TAG.refresh, reveal.part, reveal.nonce, sessionId)
}

/**
 * @returns δ in its own memory, which the caller wipes
 * @throws when it is zero
 */
export function refreshDelta(servicePart: Uint8Array, userPart: Uint8Array): Buffer {
  const delta = Buffer.from(servicePart)
  addInto(delta, userPart)
  return delta
}

/** Negates `scalar` modulo the order, in place and byte by byte, so that it can be wiped. */
export function negateInto(scalar: Buffer): void {
  let borrow = 0
  for (let at = 31; at >= 0; at--) {
    const difference = (ORDER[at] ?? 0) - (scalar[at] ?? 0) - borrow
    borrow = difference < 0 ? 1 : 0
    scalar[at] = difference + borrow * 256
  }
}

/**
 * Builds the next certificate: the same wallet, owner and key, with the shares' points moved by δ.
 * @throws Refusal UNAUTHENTIC when the key would change
 */
export function refreshedCertificate(
  present: Certificate,
  delta: Buffer,
  sessionId: Uint8Array,
): { encoded: Buffer; servicePoint: Buffer; userPoint: Buffer } {
  const negative = Buffer.from(delta)
  negateInto(negative)
  const userPoint = addPoints(present.userPoint, pointOf(delta))
  const servicePoint = addPoints(present.servicePoint, pointOf(negative))
  negative.fill(0)
  const before = addPoints(present.servicePoint, present.userPoint)
  if (!sameBytes(addPoints(servicePoint, userPoint), before)) {
    throw new Refusal('UNAUTHENTIC', 'refresh would change the key')
  }
  const transcript = taggedHash(
    TAG.refresh,
    concat(encodeCertificate(present), sessionId, servicePoint, userPoint),
  )
  const encoded = encodeCertificate({
    ...present,
    epoch: present.epoch + 1,
    servicePoint,
    userPoint,
    transcript,
  })
  return { encoded, servicePoint, userPoint }
}
