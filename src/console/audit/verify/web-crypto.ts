import type { KeyObject } from 'node:crypto'
import { rawPublicKey } from '../../../quorum-protocol/p256.js'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
/** A registry names a few keys, and each batch is checked with them. */
const imported = new WeakMap<KeyObject, Promise<CryptoKey>>()

/**
 * The same as the quorum protocol's `verifyP256`, with the implementation that every browser has
 * built in.
 */
export async function verifyByWebCrypto(
  key: KeyObject,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (signature.length !== 64) return false
  // Copies, because WebCrypto accepts no view of memory that could be shared.
  const [signed, bytes] = [Uint8Array.from(signature), Uint8Array.from(message)]
  return crypto.subtle.verify(ALGORITHM, await keyOf(key), signed, bytes)
}

function keyOf(key: KeyObject): Promise<CryptoKey> {
  const known = imported.get(key)
  if (known !== undefined) return known
  const raw = Uint8Array.from(rawPublicKey(key))
  const made = crypto.subtle.importKey('raw', raw, ALGORITHM, false, ['verify'])
  imported.set(key, made)
  return made
}
