import { existsSync } from 'node:fs'
import { openFileKeyStore } from './file-key-store.js'
import { type KeyStore, storeFilePath } from './key-store.js'

/** Whether P-256 keys may lie in files: in dev, or when live was told so in so many words. */
export type FileKeys = 'allowed' | 'refused'

/**
 * A process whose keys are in files loads no client of a KMS or a token: what it cannot reach,
 * nothing in it can misuse.
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
      'COUNTERSIGN_ALLOW_FILE_KEYS=1 takes them from files anyway',
  )
}
