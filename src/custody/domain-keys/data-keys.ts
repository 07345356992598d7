import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { concat } from '../protocol/bytes.js'

/**
 * A domain's data keys: AES-256, stored wrapped under the domain's wrapping key, unwrapped at
 * boot. Sealed bytes are `data key id 8 | nonce 12 | ciphertext | tag 16`; the data key's id is
 * part of the associated data.
 */
export interface DataKeys {
  seal(plain: Uint8Array, associated: Uint8Array): Buffer
  /**
   * @returns memory of its own, which the caller wipes when it is a secret
   * @throws Error when the bytes were sealed under other keys or for something else
   */
  open(sealed: Uint8Array, associated: Uint8Array): Buffer
}

/** Wrapped data keys by id (16 hex characters). */
export interface WrappedKeys {
  list(): readonly { readonly id: string; readonly wrapped: Uint8Array }[]
  /**
   * Durable, in every copy, before it returns; without effect when there is a key already, which
   * another thread may have made a moment ago.
   */
  addFirst(id: string, wrapped: Uint8Array): void
}

const ID_BYTES = 8
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * @param domain name in the associated data of each wrapped key
 * @param wrappingKey 32 bytes; wiped here
 */
export function openDataKeys(domain: string, wrappingKey: Buffer, store: WrappedKeys): DataKeys {
  if (wrappingKey.length !== 32) throw new Error('a wrapping key has 32 bytes')
  const wrapping = createSecretKey(wrappingKey)
  wrappingKey.fill(0)
  const keys = new Map<string, KeyObject>()
  if (store.list().length === 0) {
    const id = randomBytes(ID_BYTES).toString('hex')
    const raw = randomBytes(32)
    store.addFirst(id, sealGcm(wrapping, raw, wrapContext(domain, id)))
    raw.fill(0)
  }
  for (const { id, wrapped } of store.list()) {
    const raw = openGcm(wrapping, wrapped, wrapContext(domain, id))
    keys.set(id, createSecretKey(raw))
    raw.fill(0)
  }
  // New records are sealed under the key that was made last.
  const current = [...keys.keys()].at(-1)
  if (current === undefined) throw new Error('no data key could be stored')

  function keyOf(id: string): KeyObject {
    const key = keys.get(id)
    if (key === undefined) throw new Error(`data key ${id} is missing`)
    return key
  }

  return {
    seal(plain, associated) {
      const id = Buffer.from(current, 'hex')
      return concat(id, sealGcm(keyOf(current), plain, concat(associated, id)))
    },
    open(sealed, associated) {
      const id = sealed.subarray(0, ID_BYTES)
      const key = keyOf(Buffer.from(id).toString('hex'))
      return openGcm(key, sealed.subarray(ID_BYTES), concat(associated, id))
    },
  }
}

function wrapContext(domain: string, id: string): Buffer {
  return Buffer.from(`countersign/data-key/v1\0${domain}\0${id}`, 'latin1')
}

function sealGcm(key: KeyObject, plain: Uint8Array, associated: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(associated)
  const body = cipher.update(plain)
  cipher.final()
  return concat(nonce, body, cipher.getAuthTag())
}

function openGcm(key: KeyObject, sealed: Uint8Array, associated: Uint8Array): Buffer {
  const bodyEnd = sealed.length - TAG_BYTES
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
  decipher.setAAD(associated)
  decipher.setAuthTag(sealed.subarray(bodyEnd))
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, bodyEnd))
  try {
    decipher.final()
  } catch (cause) {
    plain.fill(0)
    throw new Error('sealed record does not open', { cause })
  }
  return plain
}
