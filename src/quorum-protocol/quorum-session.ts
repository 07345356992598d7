import { hkdfSync, type KeyObject } from 'node:crypto'
import { ByteReader, concat, u8 } from './bytes.js'
import { type P256Signer, verifyP256 } from './p256.js'
import { Refusal } from './refusal.js'
import type { Registry } from './registry.js'
import { TAG, tagged, taggedHash } from './tagged.js'
import { agreedSecret, x25519Pair } from './x25519.js'

/**
 * Session keys between one boot of the quorum signer and each of the two share holders: X25519,
 * ephemeral on both ends, each end signed by its pinned P-256 key. The service relays the identity
 * provider's messages, but can neither read nor replace them.
 */
export interface QuorumBoot {
  /** 16 random bytes, new at each start of the quorum signer. */
  readonly boot: Uint8Array
  /** 32 bytes, X25519. */
  readonly publicKey: Uint8Array
  /** 64 bytes by the quorum signer's pinned key. */
  readonly signature: Uint8Array
}

export type ShareHolder = 'service' | 'user'

export interface SessionKey {
  /** 8 bytes that identify the session in sealed shares. */
  readonly sessionId: Buffer
  /** 32 bytes of AES-256 key. */
  readonly key: Buffer
  readonly boot: Uint8Array
}

const HOLDER_BYTE = { service: 1, user: 2 } as const

export function encodeBoot(boot: QuorumBoot): Buffer {
  return concat(boot.boot, boot.publicKey, boot.signature)
}

/** @throws Refusal MALFORMED, or UNAUTHENTIC when no pinned quorum signer made it */
export function openBoot(bytes: Uint8Array, registry: Registry, nowMs: number): QuorumBoot {
  const reader = new ByteReader(bytes)
  const boot = { boot: reader.take(16), publicKey: reader.take(32), signature: reader.take(64) }
  reader.end()
  const message = bootMessage(boot.boot, boot.publicKey)
  const keys = registry.keysOf('quorum_signers', nowMs)
  if (!keys.some((key) => verifyP256(key, message, boot.signature))) {
    throw new Refusal('UNAUTHENTIC', 'boot statement')
  }
  return boot
}

export function bootMessage(boot: Uint8Array, publicKey: Uint8Array): Buffer {
  return tagged(TAG.quorumBoot, boot, publicKey)
}

export function offerMessage(boot: QuorumBoot, holder: ShareHolder, publicKey: Uint8Array): Buffer {
  return tagged(TAG.session, boot.boot, boot.publicKey, u8(HOLDER_BYTE[holder]), publicKey)
}

/** Makes a share holder's offer for the quorum signer, and the resulting key. */
export async function offerSession(
  boot: QuorumBoot,
  holder: ShareHolder,
  signer: P256Signer,
): Promise<{ offer: Buffer; session: SessionKey }> {
  const { privateKey, publicKey } = x25519Pair()
  const signature = await signer.sign(offerMessage(boot, holder, publicKey))
  return {
    offer: concat(u8(HOLDER_BYTE[holder]), publicKey, signature),
    session: deriveSession(privateKey, boot.publicKey, boot, holder, publicKey),
  }
}

/**
 * Accepts an offer at the quorum signer.
 * @throws Refusal MALFORMED or UNAUTHENTIC
 */
export function acceptSession(
  bytes: Uint8Array,
  boot: QuorumBoot,
  bootPrivateKey: KeyObject,
  registry: Registry,
  nowMs: number,
): { holder: ShareHolder; session: SessionKey } {
  const reader = new ByteReader(bytes)
  const byte = reader.u8()
  const holder = byte === 1 ? 'service' : byte === 2 ? 'user' : null
  const publicKey = reader.take(32)
  const signature = reader.take(64)
  reader.end()
  if (holder === null) throw new Refusal('MALFORMED', 'share holder')
  const message = offerMessage(boot, holder, publicKey)
  const keys = registry.keysOf(holder === 'service' ? 'co_signers' : 'approvers', nowMs)
  if (!keys.some((key) => verifyP256(key, message, signature))) {
    throw new Refusal('UNAUTHENTIC', 'session offer')
  }
  return {
    holder,
    session: deriveSession(bootPrivateKey, publicKey, boot, holder, publicKey),
  }
}

function deriveSession(
  privateKey: KeyObject,
  peer: Uint8Array,
  boot: QuorumBoot,
  holder: ShareHolder,
  holderPublicKey: Uint8Array,
): SessionKey {
  const secret = agreedSecret(privateKey, peer)
  const context = tagged(TAG.session, u8(HOLDER_BYTE[holder]), boot.publicKey, holderPublicKey)
  const key = Buffer.from(hkdfSync('sha256', secret, boot.boot, context, 32))
  secret.fill(0)
  const sessionId = taggedHash(TAG.session, context, boot.boot).subarray(0, 8)
  return { sessionId, key, boot: boot.boot }
}
