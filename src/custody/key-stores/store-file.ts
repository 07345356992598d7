import { readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { writePrivateFile } from '../domain-keys/private-file.js'
import { KEYS_MAX, storeFilePath } from './key-store.js'

/** The label of signing keys in a token that only one machine uses. */
export const SIGNING_LABEL = 'countersign-signing'

const absolutePath = z.string().max(4_096).refine(isAbsolute, 'must be an absolute path')

/**
 * `keys/store.json` of a domain: the store of its P-256 keys. Without it they are in files beside
 * it.
 */
const storeFile = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('pkcs11'),
    module: absolutePath,
    token: z.string().min(1).max(32),
    pin_file: absolutePath,
    signing_label: z.string().min(1).max(64).optional(),
  }),
  z.strictObject({
    kind: z.literal('kms'),
    url: z.url({ protocol: /^https?$/ }),
    /** A file with the value of the Authorization header, mode 0600. */
    authorization_file: absolutePath,
    signing_keys: z.array(z.string().min(1).max(256)).max(KEYS_MAX),
    agreement_key: z.string().min(1).max(256).nullable(),
  }),
])
export type StoreFile = z.infer<typeof storeFile>

export function writeStoreFile(directory: string, settings: StoreFile): void {
  const text = JSON.stringify(storeFile.parse(settings), null, 2)
  writePrivateFile(storeFilePath(directory), Buffer.from(`${text}\n`))
}

/** @throws Error that names the file and the reason */
export function readStoreFile(path: string): StoreFile {
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
