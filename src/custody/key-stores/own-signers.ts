import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SIGNING_KEY_FILE } from './file-key-store.js'
import { storeFilePath } from './key-store.js'
import { readStoreFile, SIGNING_LABEL, type StoreFile, writeStoreFile } from './store-file.js'

/**
 * Removes the signing keys from a `keys` directory that was copied from another machine's: this
 * machine makes its own (`custody provision`). The key that opens the wrapping key stays, because
 * both machines open the same shares. Keys in a token or a KMS are not removed, because the other
 * machine still signs with them.
 * @param directory the domain's `keys` directory
 */
export function disownSigners(directory: string): void {
  const path = storeFilePath(directory)
  if (existsSync(path)) writeStoreFile(directory, withoutSigners(readStoreFile(path)))
  else
    for (const name of readdirSync(directory).filter((name) => SIGNING_KEY_FILE.test(name)))
      rmSync(join(directory, name))
}

function withoutSigners(store: StoreFile): StoreFile {
  if (store.kind === 'kms') return { ...store, signing_keys: [] }
  // Both machines may reach the same network token, so the label must differ.
  return { ...store, signing_label: `${SIGNING_LABEL}-${randomBytes(4).toString('hex')}` }
}
