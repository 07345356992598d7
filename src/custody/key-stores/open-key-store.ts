import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { z } from 'zod'
import { readPrivateFile, writePrivateFile } from '../domain-keys/private-file.js'
import { openFileKeyStore } from './file-key-store.js'
import { KEYS_MAX, type KeyStore } from './key-store.js'
import { createKmsClient } from './kms-client.js'
import { openKmsKeyStore } from './kms-key-store.js'
import { openPkcs11KeyStore } from './pkcs11-key-store.js'

const absolutePath = z.string().max(4_096).refine(isAbsolute, 'must be an absolute path')

/** `keys/store.json` of a domain: where its P-256 keys are. No such file: beside it, in files. */
const storeFile = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('pkcs11'),
    module: absolutePath,
    token: z.string().min(1).max(32),
    pin_file: absolutePath,
  }),
  z.strictObject({
    kind: z.literal('kms'),
    url: z.url({ protocol: /^https?$/ }),
    /** File with the value of the Authorization header, mode 0600. */
    authorization_file: absolutePath,
    signing_keys: z.array(z.string().min(1).max(256)).max(KEYS_MAX),
    agreement_key: z.string().min(1).max(256).nullable(),
  }),
])
export type StoreFile = z.infer<typeof storeFile>

/** Whether P-256 keys may lie in files: in dev, or when live was told so in so many words. */
export type FileKeys = 'allowed' | 'refused'

/**
 * @param directory the domain's `keys` directory
 * @throws Error that names the file or the store and the reason
 */
export function openKeyStore(directory: string, fileKeys: FileKeys): KeyStore {
  const path = storeFilePath(directory)
  if (!existsSync(path)) {
    if (fileKeys === 'refused') {
      throw new Error(
        `${directory}: live takes its P-256 keys from a PKCS#11 token or a KMS, named in ${path}; ` +
          'COUNTERSIGN_ALLOW_FILE_KEYS=1 takes them from files all the same',
      )
    }
    return openFileKeyStore(directory)
  }
  const settings = readStoreFile(path)
  if (settings.kind === 'pkcs11') return openPkcs11KeyStore(settings)
  return openKmsKeyStore(
    createKmsClient({
      url: settings.url,
      authorization: () => readPrivateFile(settings.authorization_file).toString('utf8').trim(),
    }),
    {
      read() {
        const present = readStoreFile(path)
        if (present.kind !== 'kms') throw new Error(`${path} no longer names a KMS`)
        return { signing: present.signing_keys, agreement: present.agreement_key }
      },
      write({ signing, agreement }) {
        const next = { ...settings, signing_keys: [...signing], agreement_key: agreement }
        writeStoreFile(directory, next)
      },
    },
  )
}

export function writeStoreFile(directory: string, settings: StoreFile): void {
  const text = JSON.stringify(storeFile.parse(settings), null, 2)
  writePrivateFile(storeFilePath(directory), Buffer.from(`${text}\n`))
}

export function storeFilePath(directory: string): string {
  return join(directory, 'store.json')
}

function readStoreFile(path: string): StoreFile {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new Error(`${path} is not JSON`, { cause })
  }
  const parsed = storeFile.safeParse(content)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new Error(`${path}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is malformed'}`)
}
