import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import {
  type P256Signer,
  p256SignerOf,
  publicKeyFromRaw,
  rawPublicKey,
} from '../../quorum-protocol/p256.js'
import { readPrivateFile, writePrivateFile } from '../domain-keys/private-file.js'
import { type AgreementKey, KEYS_MAX, type KeyStore } from './key-store.js'

/**
 * PEM files (PKCS #8), mode 0600: `signing.pem`, `signing-<key id>.pem` after rotations, and
 * `agreement.pem`. Reading a file is having its key, so live mode accepts them only when configured
 * to.
 */
export const SIGNING_KEY_FILE = /^signing(-[0-9a-f]{16})?\.pem$/

export function openFileKeyStore(directory: string): KeyStore {
  const agreementPath = join(directory, 'agreement.pem')

  function paths(): string[] {
    if (!existsSync(directory)) return []
    const names = readdirSync(directory).filter((name) => SIGNING_KEY_FILE.test(name))
    if (names.length > KEYS_MAX) throw new Error(`${directory}: more than ${KEYS_MAX} signing keys`)
    return names.map((name) => join(directory, name))
  }

  const readSigner = (path: string): P256Signer => p256SignerOf(readKey(path))

  return {
    kind: 'files',
    async signers() {
      return paths().map(readSigner)
    },
    async makeSigner() {
      const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      const signer = p256SignerOf(key)
      const isFirst = paths().length === 0
      const name = isFirst ? 'signing.pem' : `signing-${signer.kid.toString('hex')}.pem`
      writeKey(join(directory, name), key)
      return signer
    },
    async removeSigner(kid) {
      for (const path of paths()) if (sameBytes(readSigner(path).kid, kid)) rmSync(path)
    },
    async agreementKey() {
      return existsSync(agreementPath) ? agreementOf(readKey(agreementPath)) : null
    },
    async makeAgreementKey() {
      if (existsSync(agreementPath)) throw new Error(`${agreementPath} exists already`)
      const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      writeKey(agreementPath, key)
      return agreementOf(key)
    },
    async close() {},
  }
}

function readKey(path: string): KeyObject {
  const pem = readPrivateFile(path)
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('not P-256')
    return key
  } catch (cause) {
    throw new Error(`${path} is not a P-256 private key (PEM, PKCS #8)`, { cause })
  } finally {
    pem.fill(0)
  }
}

function writeKey(path: string, key: KeyObject): void {
  const pem = Buffer.from(key.export({ type: 'pkcs8', format: 'pem' }))
  writePrivateFile(path, pem)
  pem.fill(0)
}

function agreementOf(privateKey: KeyObject): AgreementKey {
  return {
    publicKey: rawPublicKey(createPublicKey(privateKey)),
    async agree(peer) {
      return diffieHellman({ privateKey, publicKey: publicKeyFromRaw(peer) })
    },
  }
}
