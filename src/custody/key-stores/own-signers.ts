import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { SIGNING_LABEL, storeFilePath } from './key-store.js'
import { readStoreFile, type StoreFile, writeStoreFile } from './store-file.js'

/**
 * Has a copied `keys` directory name a token or KMS without the signing keys of the machine that it was copied
 * from: this one makes its own there (`custody provision`). What opens the wrapping key stays, since both open
 * the same shares. Signing keys in files are not copied in the first place.
 * @param directory the domain's `keys` directory
 */
export function disownSigners(directory: string): void {
  const path = storeFilePath(directory)
  if (existsSync(path)) writeStoreFile(directory, withoutSigners(readStoreFile(path)))
}

function withoutSigners(store: StoreFile): StoreFile {
  if (store.kind === 'kms') return { ...store, signing_keys: [] }
  // A token may be one in the network, which both machines reach.
  return { ...store, signing_label: `${SIGNING_LABEL}-${randomBytes(4).toString('hex')}` }
}
