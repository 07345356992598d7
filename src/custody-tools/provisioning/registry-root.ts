import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { requireReadablePins } from '../../custody/domain-keys/pinned-tokens.js'
import {
  readPrivateFile,
  writePrivateFile,
  writePublicFile,
} from '../../custody/domain-keys/private-file.js'
import { readRegistryFile, writeRegistryFile } from '../../custody/domain-keys/registry-file.js'
import { type P256Signer, p256SignerOf, publicKeyFromRaw } from '../../quorum-protocol/p256.js'
import { openRegistry, type RegistryBody, registryMessage } from '../../quorum-protocol/registry.js'

/**
 * The registry's root: a holder of its private key decides which keys and contracts the domains
 * trust. Make and use it on a separate machine, which only its public key leaves.
 */
interface RootFiles {
  /** PEM (PKCS #8), mode 0600; it stays offline. */
  readonly privateKey: string
  /** PEM (SubjectPublicKeyInfo); each domain pins it. */
  readonly publicKey: string
}

/** @throws Error when the directory already contains a root */
export function makeRegistryRoot(directory: string): RootFiles {
  const files = {
    privateKey: join(directory, 'root.pem'),
    publicKey: join(directory, 'root.pub.pem'),
  }
  if (existsSync(files.privateKey)) throw new Error(`${files.privateKey} already exists`)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writePrivateFile(files.privateKey, pem)
  pem.fill(0)
  writePublicFile(files.publicKey, Buffer.from(publicKey.export({ type: 'spki', format: 'pem' })))
  return files
}

/** @throws Error that names the file */
export function openRegistryRoot(path: string): P256Signer {
  const pem = readPrivateFile(path)
  try {
    const key = createPrivateKey(pem)
    if (createPublicKey(key).asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
      throw new Error('not P-256')
    }
    return p256SignerOf(key)
  } catch (cause) {
    throw new Error(`${path} is not the private key of a registry root`, { cause })
  } finally {
    pem.fill(0)
  }
}

/**
 * Reads the registry that the root signed last, to draft the next one.
 * @throws Error that names the file
 */
export function readSigned(path: string, root: P256Signer): RegistryBody {
  try {
    const { envelope } = openRegistry(readRegistryFile(path), publicKeyFromRaw(root.publicKey))
    return JSON.parse(Buffer.from(envelope.body).toString('utf8')) as RegistryBody
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${path}: ${reason}`, { cause })
  }
}

/**
 * Signs a registry with the root and installs it.
 * @throws Error when the domains could not read one of its pins
 */
export async function signRegistry(
  path: string,
  root: P256Signer,
  registry: RegistryBody,
): Promise<void> {
  requireReadablePins(registry)
  const body = Buffer.from(JSON.stringify(registry), 'utf8')
  const signature = await root.sign(registryMessage(body))
  writeRegistryFile(path, { body, signature })
}
