import { readPrivateFile } from '../domain-keys/private-file.js'
import { type KeyStore, storeFilePath } from './key-store.js'
import { createKmsClient } from './kms-client.js'
import { openKmsKeyStore } from './kms-key-store.js'
import { openPkcs11KeyStore } from './pkcs11-key-store.js'
import { readStoreFile, writeStoreFile } from './store-file.js'

/**
 * Opens the store that the domain's `store.json` names: a PKCS#11 token or a KMS.
 * @throws Error that names the file or the store and the reason
 */
export function openNamedKeyStore(directory: string): KeyStore {
  const path = storeFilePath(directory)
  const settings = readStoreFile(path)
  if (settings.kind === 'pkcs11') return openPkcs11KeyStore(settings)
  const kms = createKmsClient({
    url: settings.url,
    authorization: () => readPrivateFile(settings.authorization_file).toString('utf8').trim(),
  })
  return openKmsKeyStore(kms, {
    read() {
      const present = readStoreFile(path)
      if (present.kind !== 'kms') throw new Error(`${path} no longer names a KMS`)
      return { signing: present.signing_keys, agreement: present.agreement_key }
    },
    write({ signing, agreement }) {
      const next = { ...settings, signing_keys: [...signing], agreement_key: agreement }
      writeStoreFile(directory, next)
    },
  })
}
