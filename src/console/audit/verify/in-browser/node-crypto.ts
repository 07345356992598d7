import { p256 } from '@noble/curves/nist.js'
import { sha256 } from '@noble/hashes/sha2.js'

/**
 * What the code that verifies evidence uses of node:crypto; the build puts it in that one's place in
 * the worker. Of signatures it checks the few that are not in batches: those of the registry, of
 * authorizers and of grants.
 */

export interface PublicKey {
  readonly asymmetricKeyType: 'ec'
  /** DER of SubjectPublicKeyInfo. */
  export(): Uint8Array
}

/** Bytes of it before the point of a P-256 key (RFC 5480). */
const POINT_AT = 26

/** @throws Error when it is no point of the curve */
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

/** @returns one char for each byte, as Node's `binary` encoding is */
export function hash(_digest: 'sha256', bytes: Uint8Array): string {
  return String.fromCharCode(...sha256(bytes))
}

export function sign(): never {
  throw new Error('nothing is signed in a browser')
}

export function randomFillSync(): never {
  throw new Error('no key is made in a browser')
}
