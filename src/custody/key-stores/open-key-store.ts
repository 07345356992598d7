import { existsSync } from 'node:fs'
import { openFileKeyStore } from './file-key-store.js'
import { type KeyStore, storeFilePath } from './key-store.js'

/**
 * Whether P-256 keys may be in files: in dev mode, or when live mode is configured to accept them.
 */
export type FileKeys = 'allowed' | 'refused'

/**
 * Opens the domain's key store. A process with keys in files loads no client of a KMS or a token,
 * so that nothing in it can misuse one.
 * @param directory the domain's `keys` directory
 * @throws Error that names the file or the store and the reason
 */
export async function openKeyStore(directory: string, fileKeys: FileKeys): Promise<KeyStore> {
  const path = storeFilePath(directory)
  if (existsSync(path)) {
    const { openNamedKeyStore } = await import('./named-key-store.js')
    return openNamedKeyStore(directory)
  }
  if (fileKeys === 'allowed') return openFileKeyStore(directory)
  throw new Error(
    `${directory}: live takes its P-256 keys from a PKCS#11 token or a KMS, named in ${path}; ` +
      'COUNTERSIGN_ALLOW_FILE_KEYS=1 accepts files anyway',
  )
}
