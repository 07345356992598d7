import { createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { concat } from './bytes.js'

/** Key agreement over Curve25519 (RFC 7748), through OpenSSL. */
interface X25519Pair {
  readonly privateKey: KeyObject
  /** 32 bytes. */
  readonly publicKey: Buffer
}

/** DER of an X25519 SubjectPublicKeyInfo up to the key (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex')

export function x25519Pair(): X25519Pair {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  const der = publicKey.export({ type: 'spki', format: 'der' })
  return { privateKey, publicKey: Buffer.from(der.subarray(SPKI_PREFIX.length)) }
}

/**
 * @param peer 32 bytes
 * @returns 32 bytes that both ends derive; the caller wipes them
 * @throws Error when the peer's key is invalid
 */
export function agreedSecret(privateKey: KeyObject, peer: Uint8Array): Buffer {
  const key = concat(SPKI_PREFIX, peer)
  const publicKey = createPublicKey({ key, format: 'der', type: 'spki' })
  return diffieHellman({ privateKey, publicKey })
}
