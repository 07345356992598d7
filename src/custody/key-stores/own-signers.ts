import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SIGNING_KEY_FILE } from './file-key-store.js'
import { storeFilePath } from './key-store.js'
import { readStoreFile, SIGNING_LABEL, type StoreFile, writeStoreFile } from './store-file.js'

/**
 * Has a `keys` directory that was made of another machine's be without that one's signing keys: this machine
 * makes its own (`custody provision`). What opens the wrapping key stays, since both open the same shares.
 * In a token or a KMS nothing is removed: the other machine signs on with it.
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
  // A token may be one in the network, which both machines reach.
  return { ...store, signing_label: `${SIGNING_LABEL}-${randomBytes(4).toString('hex')}` }
}
