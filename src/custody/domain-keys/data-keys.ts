import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { concat, viewOf } from '../../quorum-protocol/bytes.js'

/**
 * A domain's data keys: AES-256, stored wrapped under the domain's wrapping key and unwrapped at
 * the start. Sealed bytes are `data key id 8 | nonce 12 | ciphertext | tag 16`; the data key's id
 * is part of the associated data.
 */
export interface DataKeys {
  seal(plain: Uint8Array, associated: Uint8Array): Buffer
  /**
   * @returns a new buffer, which the caller wipes when it holds a secret
   * @throws Error when the bytes were sealed under other keys or for another purpose
   */
  open(sealed: Uint8Array, associated: Uint8Array): Buffer
  /** Tells whether the key that sealed the bytes is available. */
  has(sealed: Uint8Array): boolean
}

/** Wrapped data keys by id (16 hex characters). */
export interface WrappedKeys {
  list(): readonly WrappedKey[]
  /**
   * Adds the first key, durable in every copy on return. It does nothing when there is a key
   * already, which another thread may just have made.
   */
  addFirst(id: string, wrapped: Uint8Array): void
  /**
   * Replaces all keys, in one copy after the other; each copy has either all old keys or all new
   * ones.
   */
  replaceAll(keys: readonly WrappedKey[]): void
}

interface WrappedKey {
  readonly id: string
  readonly wrapped: Uint8Array
}

const ID_BYTES = 8
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * @param domain the name in the associated data of each wrapped key
 * @param wrappingKeys 32 bytes each, the one in use first; wiped here
 * @throws Error when none of them opens a stored key
 */
export function openDataKeys(
  domain: string,
  wrappingKeys: readonly Buffer[],
  store: WrappedKeys,
): DataKeys {
  const wrapping = importWrappingKeys(wrappingKeys)
  const keys = new Map<string, KeyObject>()
  if (store.list().length === 0) {
    const id = randomBytes(ID_BYTES).toString('hex')
    const raw = randomBytes(32)
    store.addFirst(id, sealGcm(wrapping[0], raw, wrapContext(domain, id)))
    raw.fill(0)
  }
  for (const key of store.list()) {
    const raw = unwrap(domain, key, wrapping)
    keys.set(key.id, createSecretKey(raw))
    raw.fill(0)
  }
  // New records are sealed under the newest key.
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
    has: (sealed) => keys.has(viewOf(sealed.subarray(0, ID_BYTES)).toString('hex')),
    open(sealed, associated) {
      const id = sealed.subarray(0, ID_BYTES)
      const key = keyOf(viewOf(id).toString('hex'))
      return openGcm(key, sealed.subarray(ID_BYTES), concat(associated, id))
    },
  }
}

/**
 * Wraps every data key again, under the last of the wrapping keys.
 * @param wrappingKeys 32 bytes each; wiped here
 */
export function rewrapDataKeys(
  domain: string,
  wrappingKeys: readonly Buffer[],
  store: WrappedKeys,
): void {
  const wrapping = importWrappingKeys(wrappingKeys)
  const next = wrapping.at(-1) ?? wrapping[0]
  store.replaceAll(
    store.list().map((key) => {
      const raw = unwrap(domain, key, wrapping)
      const wrapped = sealGcm(next, raw, wrapContext(domain, key.id))
      raw.fill(0)
      return { id: key.id, wrapped }
    }),
  )
}

function importWrappingKeys(raw: readonly Buffer[]): readonly [KeyObject, ...KeyObject[]] {
  const [first, ...others] = raw.map((key) => {
    if (key.length !== 32) throw new Error('a wrapping key has 32 bytes')
    const imported = createSecretKey(key)
    key.fill(0)
    return imported
  })
  if (first === undefined) throw new Error('no wrapping key')
  return [first, ...others]
}

/** @returns the data key in memory that the caller wipes */
function unwrap(domain: string, key: WrappedKey, wrapping: readonly KeyObject[]): Buffer {
  for (const candidate of wrapping) {
    try {
      return openGcm(candidate, key.wrapped, wrapContext(domain, key.id))
    } catch {
      // The next one may fit: a rotation of the wrapping key may be under way.
    }
  }
  throw new Error(`data key ${key.id} is wrapped under another wrapping key`)
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
    throw new Error('the sealed record cannot be opened', { cause })
  }
  return plain
}
