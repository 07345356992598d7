import { hkdfSync } from 'node:crypto'

const INFO = 'countersign/key-proof/v1'

/**
 * The key that proves the presence of an API secret: HKDF-SHA256 of the secret. The identity
 * provider keeps it sealed. The service derives it from each presented header and never stores it,
 * so that the service's disk cannot make proofs.
 * @param secret the full secret, `sk_test_…` or `sk_live_…`
 * @returns 32 bytes
 */
export function deriveProofKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', INFO, 32))
}
