import { createPrivateKey } from 'node:crypto'
import { type P256Signer, p256SignerOf } from '../protocol/p256.js'
import { readPrivateFile } from './private-file.js'

/**
 * A domain's P-256 key from a PEM file.
 * @throws Error in live mode: there the key belongs in a PKCS#11 token or a KMS, where it cannot
 * be copied
 */
export function openFileSigner(path: string, mode: 'dev' | 'live'): P256Signer {
  if (mode === 'live') {
    throw new Error('live takes its P-256 keys from a PKCS#11 token or a KMS, not from a file')
  }
  const pem = readPrivateFile(path)
  try {
    return p256SignerOf(createPrivateKey(pem))
  } finally {
    pem.fill(0)
  }
}
