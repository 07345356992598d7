import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { ByteReader, concat, u64 } from './bytes.js'
import type { SessionKey } from './quorum-session.js'
import { Refusal } from './refusal.js'

/**
 * The shares of one batch on their way to the quorum signer, each for one intent only: `session id
 * 8 | counter 8 | point 33, of each intent | AES-256-GCM(share 32, of each intent) | tag 16`, nonce
 * = 4 zero bytes ‖ counter. The associated data names the boot, every intent and every point, in
 * the order of the shares, so that no share can replace another. One seal covers all: making a
 * cipher takes Node a quarter of the time of a transaction's signature.
 *
 * The points are the wallets' public keys, sent only by the identity provider: the quorum signer
 * signs with no other key, whatever share the service sends. They are bound by the seal, so the
 * service that relays it cannot change them.
 */
export interface ShareSealer {
  readonly boot: Uint8Array
  /**
   * @param shares 32 bytes each, concatenated in the order of `ids`; the caller wipes them
   * @param ids ids of the intents, or the digest of a self-test; both cover the share's epoch
   * @param points points of the wallets in that order; empty from the service
   */
  seal(shares: Uint8Array, ids: readonly Uint8Array[], points?: readonly Uint8Array[]): Buffer
}

export const SHARE_BYTES = 32
/** Compressed. */
export const POINT_BYTES = 33

export function createSealer(session: SessionKey): ShareSealer {
  const key = createSecretKey(session.key)
  session.key.fill(0)
  // Unique per session key: both ends make a new key for each session, so counting from zero
  // never // repeats a nonce, and 2^53 is never reached.
  let counter = 0
  return {
    boot: session.boot,
    seal(shares, ids, points = NO_POINTS) {
      if (shares.length !== ids.length * SHARE_BYTES) throw new RangeError('one share each')
      const count = u64(counter++)
      const cipher = createCipheriv('aes-256-gcm', key, nonceOf(count))
      cipher.setAAD(concat(session.boot, ...ids, ...points))
      const sealed = cipher.update(shares)
      cipher.final()
      return concat(session.sessionId, count, ...points, sealed, cipher.getAuthTag())
    },
  }
}

const NO_POINTS: readonly Uint8Array[] = []

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

export interface OpenedShares {
  /** 32 bytes for each intent, in separate memory that the caller wipes. */
  readonly shares: Buffer
  /** 33 bytes for each intent; empty from the service. */
  readonly points: Uint8Array
}

/**
 * @param ids the ids that the shares must be for, in that order
 * @param pointBytes the size of the point with each share: `POINT_BYTES` from the identity
 * provider, 0 from the service
 * @throws Refusal MALFORMED, or UNAUTHENTIC when they were sealed for anything else
 */
export function openShares(
  opener: ShareOpener,
  sealed: Uint8Array,
  ids: readonly Uint8Array[],
  pointBytes: 0 | typeof POINT_BYTES,
): OpenedShares {
  const reader = new ByteReader(sealed)
  reader.take(8)
  const count = reader.take(8)
  const points = reader.take(ids.length * pointBytes)
  const body = reader.take(ids.length * SHARE_BYTES)
  const tag = reader.take(16)
  reader.end()
  const decipher = createDecipheriv('aes-256-gcm', opener.key, nonceOf(count))
  decipher.setAAD(concat(opener.boot, ...ids, points))
  decipher.setAuthTag(tag)
  const shares = allocateShares(ids.length)
  // One share at a time: of a longer piece Node leaves a copy in freed memory, which nothing can
  // wipe.
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
  return { shares, points }
}

/**
 * Allocates memory for shares that can be wiped: V8 moves typed arrays of up to 64 bytes within its
 * heap and leaves copies behind.
 */
export function allocateShares(count: number): Buffer {
  return Buffer.alloc(Math.max(count, 3) * SHARE_BYTES).subarray(0, count * SHARE_BYTES)
}

function nonceOf(count: Uint8Array): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.set(count, 4)
  return nonce
}
