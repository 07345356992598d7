import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type P256Signer, p256SignerOf } from '../quorum-protocol/p256.js'
import { configDirectory, OTHERS_MASK } from './config-directory.js'
import { UsageError } from './exit-codes.js'
import type { Io } from './io.js'

/**
 * The command line's own P-256 authorizer keys: one file each below the user's configuration
 * directory, readable only by the user, encrypted with COUNTERSIGN_AUTHORIZER_PASSPHRASE if it is
 * set. The service never sees one.
 */
const keyFile = z.object({
  authorizer_id: z.string().regex(/^aut_[0-9a-f]{32}$/),
  label: z.string(),
  /** Origin of the identity provider at which it is registered. */
  identity_provider: z.string(),
  created_at: z.string(),
  /** PKCS #8; encrypted if there was a passphrase. */
  private_key: z.string(),
})
type KeyFile = z.infer<typeof keyFile>

type KeyFacts = Omit<KeyFile, 'private_key'>

/** PBES2 with AES-256 (RFC 8018), which cannot make up for a short passphrase. */
const CIPHER = 'aes-256-cbc'

export function newAuthorizerKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

/** Written before the key is registered under its id: a registered key is never lost. */
export function saveKey(io: Io, facts: KeyFacts, key: KeyObject): string {
  const directory = directoryOf(io)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const passphrase = passphraseOf(io)
  const pem = key.export({
    type: 'pkcs8',
    format: 'pem',
    ...(passphrase === null ? {} : { cipher: CIPHER, passphrase }),
  })
  const path = pathOf(io, facts.authorizer_id)
  const content: KeyFile = { ...facts, private_key: pem.toString() }
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  chmodSync(path, 0o600)
  return path
}

export function forgetKey(io: Io, authorizerId: string): void {
  rmSync(pathOf(io, authorizerId), { force: true })
}

/** Returns this user's keys on this machine. */
export function savedKeys(io: Io): readonly KeyFacts[] {
  const directory = directoryOf(io)
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .map((name) => readKeyFile(join(directory, name)))
}

/** @throws UsageError when others can read the file, or the passphrase does not open it */
export function openKey(io: Io, authorizerId: string): P256Signer {
  return openKeyFile(io, pathOf(io, authorizerId)).signer
}

/**
 * Opens a key file at any path.
 * @throws UsageError
 */
export function openKeyFile(
  io: Io,
  path: string,
): { readonly authorizer_id: string; readonly signer: P256Signer } {
  const { private_key, authorizer_id } = readKeyFile(path)
  const passphrase = passphraseOf(io)
  try {
    const key = createPrivateKey({
      key: private_key,
      ...(passphrase === null ? {} : { passphrase }),
    })
    return { authorizer_id, signer: p256SignerOf(key) }
  } catch {
    // The cause could quote the file.
    throw new UsageError(
      `${path} cannot be opened: set COUNTERSIGN_AUTHORIZER_PASSPHRASE to its passphrase`,
    )
  }
}

function readKeyFile(path: string): KeyFile {
  if ((statSync(path).mode & OTHERS_MASK) !== 0) {
    throw new UsageError(`${path} must have mode 0600: others could read it`)
  }
  const parsed = keyFile.safeParse(JSON.parse(readFileSync(path, 'utf8')))
  if (parsed.success) return parsed.data
  throw new UsageError(`${path} is malformed`)
}

function pathOf(io: Io, authorizerId: string): string {
  return join(directoryOf(io), `${authorizerId}.json`)
}

function directoryOf(io: Io): string {
  return join(configDirectory(io), 'authorizers')
}

function passphraseOf(io: Io): string | null {
  return io.env.COUNTERSIGN_AUTHORIZER_PASSPHRASE || null
}
