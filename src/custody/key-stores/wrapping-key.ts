import {
  createCipheriv,
  createDecipheriv,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import { existsSync } from 'node:fs'
import { concat } from '../../quorum-protocol/bytes.js'
import { publicKeyFromRaw, rawPublicKey } from '../../quorum-protocol/p256.js'
import { readPrivateFile, writePrivateFile } from '../domain-keys/private-file.js'
import type { KeyStore } from './key-store.js'

/**
 * A domain's wrapping key at rest. With keys in files: its 32 bytes, mode 0600. With a token or a
 * KMS: sealed to the agreement key in it, `ephemeral point 65 | nonce 12 | ciphertext 32 | tag 16`
 * (ECDH P-256, HKDF-SHA256, AES-256-GCM), so that the disk and its copies open nothing.
 */
const RAW_BYTES = 32
const POINT_BYTES = 65
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SEALED_BYTES = POINT_BYTES + NONCE_BYTES + RAW_BYTES + TAG_BYTES
const INFO = 'countersign/wrapping-key/v1'

/**
 * Reads the wrapping keys: during a rotation there are two, the one in use and the next. They are
 * tried in this order.
 * @param path the wrapping key in use; the next one is beside it
 * @returns one or two keys of 32 bytes; the caller wipes them
 * @throws Error that names the file
 */
export async function readWrappingKeys(path: string, store: KeyStore): Promise<Buffer[]> {
  const keys = [await readWrappingKey(path, store)]
  const next = nextWrappingKeyPath(path)
  if (existsSync(next)) keys.push(await readWrappingKey(next, store))
  return keys
}

export function nextWrappingKeyPath(path: string): string {
  return `${path}.next`
}

export async function readWrappingKey(path: string, store: KeyStore): Promise<Buffer> {
  const content = readPrivateFile(path)
  if (content.length === RAW_BYTES) {
    if (store.kind === 'files') return content
    content.fill(0)
    throw new Error(`${path} is not sealed to the key in the ${store.kind} store`)
  }
  if (content.length !== SEALED_BYTES) throw new Error(`${path} is not a wrapping key`)
  const agreement = await store.agreementKey()
  if (agreement === null) throw new Error(`${path}: the ${store.kind} store has no agreement key`)
  const ephemeral = content.subarray(0, POINT_BYTES)
  const key = sealingKey(await agreement.agree(ephemeral), ephemeral, agreement.publicKey)
  const nonce = content.subarray(POINT_BYTES, POINT_BYTES + NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAuthTag(content.subarray(-TAG_BYTES))
  const opened = decipher.update(content.subarray(POINT_BYTES + NONCE_BYTES, -TAG_BYTES))
  try {
    decipher.final()
    return opened
  } catch (cause) {
    opened.fill(0)
    throw new Error(`${path} was sealed to another key than the ${store.kind} store has`, { cause })
  } finally {
    key.fill(0)
  }
}

/** Makes a wrapping key at `path`, sealed to the store's key. Resolves once it is durable. */
export async function makeWrappingKey(path: string, store: KeyStore): Promise<void> {
  const fresh = randomBytes(RAW_BYTES)
  try {
    if (store.kind === 'files') {
      writePrivateFile(path, fresh)
      return
    }
    const agreement = (await store.agreementKey()) ?? (await store.makeAgreementKey())
    writePrivateFile(path, sealTo(agreement.publicKey, fresh))
  } finally {
    fresh.fill(0)
  }
}

function sealTo(recipient: Buffer, plain: Buffer): Buffer {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ephemeral = rawPublicKey(pair.publicKey)
  const secret = diffieHellman({
    privateKey: pair.privateKey,
    publicKey: publicKeyFromRaw(recipient),
  })
  const key = sealingKey(secret, ephemeral, recipient)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const body = cipher.update(plain)
  cipher.final()
  key.fill(0)
  return concat(ephemeral, nonce, body, cipher.getAuthTag())
}

/** @param secret wiped here */
function sealingKey(secret: Buffer, ephemeral: Uint8Array, recipient: Uint8Array): Buffer {
  const context = concat(Buffer.from(INFO, 'latin1'), ephemeral, recipient)
  const key = Buffer.from(hkdfSync('sha256', secret, '', context, 32))
  secret.fill(0)
  return key
}
