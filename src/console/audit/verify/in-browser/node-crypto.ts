import { p256 } from '@noble/curves/nist.js'
import { sha256 } from '@noble/hashes/sha2.js'

/**
 * The part of node:crypto that the evidence code uses; the build replaces node:crypto with it in
 * the worker. It checks the few signatures that are not in batches: those of the registry, of
 * approver devices and of grants.
 */

export interface PublicKey {
  readonly asymmetricKeyType: 'ec'
  /** DER of SubjectPublicKeyInfo. */
  export(): Uint8Array
}

/** Bytes before the point of a P-256 key (RFC 5480). */
const POINT_AT = 26

/** @throws Error if it is not a point of the curve */
export function createPublicKey({ key }: { readonly key: Uint8Array }): PublicKey {
  p256.Point.fromBytes(Uint8Array.from(key.subarray(POINT_AT))).assertValidity()
  return { asymmetricKeyType: 'ec', export: () => key }
}

export function verify(
  _digest: 'sha256',
  message: Uint8Array,
  { key }: { readonly key: PublicKey },
  signature: Uint8Array,
): boolean {
  try {
    const point = Uint8Array.from(key.export().subarray(POINT_AT))
    return p256.verify(Uint8Array.from(signature), Uint8Array.from(message), point, { lowS: false })
  } catch {
    return false
  }
}

/** @returns one character for each byte, like Node's `binary` encoding */
export function hash(_digest: 'sha256', bytes: Uint8Array): string {
  return String.fromCharCode(...sha256(bytes))
}

export function sign(): never {
  throw new Error('nothing is signed in a browser')
}

export function randomFillSync(): never {
  throw new Error('no key is made in a browser')
}
