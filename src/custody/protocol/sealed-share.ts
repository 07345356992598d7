import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { ByteReader, concat, u64 } from './bytes.js'
import type { SessionKey } from './quorum-session.js'
import { Refusal } from './refusal.js'

/**
 * A share on its way to the quorum signer, for one intent alone:
 * `session id 8 | counter 8 | AES-256-GCM(share) 32 | tag 16`, nonce = 4 zero bytes ‖ counter.
 */
export interface ShareSealer {
  readonly boot: Uint8Array
  /** @param share 32 bytes; the caller wipes it */
  seal(share: Uint8Array, binding: ShareBinding): Buffer
}

/** What a sealed share is good for; everything here is associated data. */
export interface ShareBinding {
  /** 32 bytes: intent id, or self-test id. */
  readonly id: Uint8Array
  readonly epoch: number
  /** 16 bytes. */
  readonly boot: Uint8Array
}

export function createSealer(session: SessionKey): ShareSealer {
  const key = createSecretKey(session.key)
  session.key.fill(0)
  // Unique per session key: both ends make a fresh key for each session, so counting from zero
  // never repeats a nonce, and 2^53 is never reached.
  let counter = 0
  return {
    boot: session.boot,
    seal(share, binding) {
      const count = u64(counter++)
      const cipher = createCipheriv('aes-256-gcm', key, nonceOf(count))
      cipher.setAAD(associatedData(binding))
      const sealed = cipher.update(share)
      cipher.final()
      return concat(session.sessionId, count, sealed, cipher.getAuthTag())
    },
  }
}

/** The quorum signer's end of a session. */
export interface ShareOpener {
  readonly sessionId: Buffer
  readonly key: KeyObject
}

export function createOpener(session: SessionKey): ShareOpener {
  const key = createSecretKey(session.key)
  session.key.fill(0)
  return { sessionId: session.sessionId, key }
}

export function sessionIdOf(sealed: Uint8Array): Uint8Array {
  return sealed.subarray(0, 8)
}

/**
 * @returns 32 bytes in memory of their own, which the caller wipes
 * @throws Refusal UNAUTHENTIC when it was sealed for anything else
 */
export function openShare(opener: ShareOpener, sealed: Uint8Array, binding: ShareBinding): Buffer {
  const reader = new ByteReader(sealed)
  reader.take(8)
  const count = reader.take(8)
  const body = reader.take(32)
  const tag = reader.take(16)
  reader.end()
  const decipher = createDecipheriv('aes-256-gcm', opener.key, nonceOf(count))
  decipher.setAAD(associatedData(binding))
  decipher.setAuthTag(tag)
  const share = decipher.update(body)
  try {
    decipher.final()
  } catch {
    share.fill(0)
    throw new Refusal('UNAUTHENTIC', 'share is sealed for something else')
  }
  return share
}

function nonceOf(count: Uint8Array): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.set(count, 4)
  return nonce
}

function associatedData({ id, epoch, boot }: ShareBinding): Buffer {
  const data = Buffer.allocUnsafe(id.length + 4 + boot.length)
  data.set(id)
  data.set(boot, data.writeUInt32BE(epoch, id.length))
  return data
}
