import { join } from 'node:path'
import type { P256Signer } from '../../quorum-protocol/p256.js'

/**
 * Where one domain's P-256 private keys live. They never leave it: the store signs and agrees,
 * and nothing here returns a private key. Adapters: files (development), a PKCS#11 token, a KMS.
 */
export interface KeyStore {
  readonly kind: 'files' | 'pkcs11' | 'kms'
  /**
   * Returns every signing key of the domain in no particular order; more than one during a
   * rotation. The registry decides which one is used, see `chooseSigner`.
   * @throws Error that names the store and what is wrong with it
   */
  signers(): Promise<readonly P256Signer[]>
  /** Makes another signing key; durable when it resolves. */
  makeSigner(): Promise<P256Signer>
  /**
   * Destroys a signing key; does nothing when no key has that id.
   * @param kid 8 bytes
   */
  removeSigner(kid: Uint8Array): Promise<void>
  /** The key that opens the domain's wrapping key; null before it is made. */
  agreementKey(): Promise<AgreementKey | null>
  /** @throws Error when there is one already */
  makeAgreementKey(): Promise<AgreementKey>
  close(): Promise<void>
}

/**
 * ECDH over P-256 (SP 800-56A, one-pass): only a holder of the token can open what was sealed to
 * it.
 */
export interface AgreementKey {
  /** 65 bytes, 0x04 ‖ x ‖ y. */
  readonly publicKey: Buffer
  /**
   * @param peer 65 bytes, a point of P-256
   * @returns 32 bytes, the x coordinate of the shared point; the caller wipes it
   */
  agree(peer: Uint8Array): Promise<Buffer>
}

/** More keys than any rotation leaves behind; a store with more belongs to something else. */
export const KEYS_MAX = 32

/** The file that names the store of the domain's keys; without it they are in files beside it. */
export function storeFilePath(directory: string): string {
  return join(directory, 'store.json')
}
