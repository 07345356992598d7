import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { ByteReader, concat, u64 } from './bytes.js'
import type { SessionKey } from './quorum-session.js'
import { Refusal } from './refusal.js'

/**
 * The shares of one batch on their way to the quorum signer, each for one intent alone:
 * `session id 8 | counter 8 | AES-256-GCM(share 32, of each intent) | tag 16`, nonce = 4 zero
 * bytes ‖ counter. The associated data names the boot and every intent, in the order of the shares,
 * so that no share can be used in another's place. One seal for all: Node takes as long to make a
 * cipher as to sign a quarter of a transaction.
 */
export interface ShareSealer {
  readonly boot: Uint8Array
  /**
   * @param shares 32 bytes each, in a row, in the order of `ids`; the caller wipes them
   * @param ids of the intents, or the digest of a self-test; both cover the epoch of the share
   */
  seal(shares: Uint8Array, ids: readonly Uint8Array[]): Buffer
}

export const SHARE_BYTES = 32

export function createSealer(session: SessionKey): ShareSealer {
  const key = createSecretKey(session.key)
  session.key.fill(0)
  // Unique per session key: both ends make a fresh key for each session, so counting from zero
  // never repeats a nonce, and 2^53 is never reached.
  let counter = 0
  return {
    boot: session.boot,
    seal(shares, ids) {
      if (shares.length !== ids.length * SHARE_BYTES) throw new RangeError('one share each')
      const count = u64(counter++)
      const cipher = createCipheriv('aes-256-gcm', key, nonceOf(count))
      cipher.setAAD(concat(session.boot, ...ids))
      const sealed = cipher.update(shares)
      cipher.final()
      return concat(session.sessionId, count, sealed, cipher.getAuthTag())
    },
  }
}

/** The quorum signer's end of a session. */
export interface ShareOpener {
  readonly sessionId: Buffer
  readonly boot: Uint8Array
  readonly key: KeyObject
}

export function createOpener(session: SessionKey): ShareOpener {
  const key = createSecretKey(session.key)
  session.key.fill(0)
  return { sessionId: session.sessionId, boot: session.boot, key }
}

export function sessionIdOf(sealed: Uint8Array): Uint8Array {
  return sealed.subarray(0, 8)
}

/**
 * @param ids what the shares have to be for, in that order
 * @returns 32 bytes for each, in memory of their own, which the caller wipes
 * @throws Refusal MALFORMED, or UNAUTHENTIC when they were sealed for anything else
 */
export function openShares(
  opener: ShareOpener,
  sealed: Uint8Array,
  ids: readonly Uint8Array[],
): Buffer {
  const reader = new ByteReader(sealed)
  reader.take(8)
  const count = reader.take(8)
  const body = reader.take(ids.length * SHARE_BYTES)
  const tag = reader.take(16)
  reader.end()
  const decipher = createDecipheriv('aes-256-gcm', opener.key, nonceOf(count))
  decipher.setAAD(concat(opener.boot, ...ids))
  decipher.setAuthTag(tag)
  const shares = allocateShares(ids.length)
  // Share by share: of a longer piece Node leaves a copy in memory that it has freed, which nothing
  // could wipe.
  for (let at = 0; at < body.length; at += SHARE_BYTES) {
    const share = decipher.update(body.subarray(at, at + SHARE_BYTES))
    shares.set(share, at)
    share.fill(0)
  }
  try {
    decipher.final()
  } catch {
    shares.fill(0)
    throw new Refusal('UNAUTHENTIC', 'shares are sealed for something else')
  }
  return shares
}

/**
 * Memory for shares that its owner can wipe: V8 moves typed arrays of up to 64 bytes about its heap
 * and leaves copies behind.
 */
export function allocateShares(count: number): Buffer {
  return Buffer.alloc(Math.max(count, 3) * SHARE_BYTES).subarray(0, count * SHARE_BYTES)
}

function nonceOf(count: Uint8Array): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.set(count, 4)
  return nonce
}
