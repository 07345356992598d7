import { createHmac } from 'node:crypto'
import { ByteReader, concat, isZero, u8, u32, u64 } from './bytes.js'
import { PAYLOAD_BYTES_MAX } from './limits.js'
import { Refusal } from './refusal.js'
import { TAG, tagged, taggedHash } from './tagged.js'

/**
 * One signature asked for, in the only encoding there is:
 * ```
 * "AWI1" | type 1 | wallet 16 | key 16 | grant 16 | grant version 4 | epoch 4 | seq 8
 *   | expiry 8 (ms) | request id 16 | replaces 32 | key proof 32 | payload
 * ```
 * Integers are big-endian; an absent `replaces` or key proof is all zeros.
 */
export interface Intent {
  readonly type: PayloadType
  /** 16 bytes of the sub-wallet id's ULID. */
  readonly walletId: Uint8Array
  /** 16 bytes of the key id's ULID; zeros for the service's own wallets. */
  readonly keyId: Uint8Array
  /** 16 bytes: the key id that the grant was made for; rotations of it share the grant. */
  readonly grantId: Uint8Array
  readonly grantVersion: number
  readonly epoch: number
  /** 32 × batch sequence + index in the batch: an intent fits one slot of one batch. */
  readonly seq: number
  readonly expiresAtMs: number
  readonly requestId: Uint8Array
  /** 32 bytes: the approval that this one replaces at its nonce. */
  readonly replaces: Uint8Array
  /** 32 bytes: proof that the API key was presented. */
  readonly keyProof: Uint8Array
  readonly payload: Uint8Array
}

/** Payload types on the wire. */
export const PAYLOAD_TYPE = {
  /** EIP-1559 transaction, unsigned: 0x02 ‖ rlp. */
  feeMarketTransaction: 1,
  /** EIP-7702 transaction, unsigned: 0x04 ‖ rlp. */
  setCodeTransaction: 2,
  /** EIP-7702 authorization: 0x05 ‖ rlp. */
  authorization: 3,
  /** EIP-712 intent of the AgentRouter: `router-intent.ts`. */
  routerIntent: 4,
} as const

export type PayloadType = (typeof PAYLOAD_TYPE)[keyof typeof PAYLOAD_TYPE]

const MAGIC = Buffer.from('AWI1', 'latin1')
const HEAD_BYTES = 4 + 1 + 16 * 3 + 4 + 4 + 8 + 8 + 16 + 32
export const NO_REFERENCE = Buffer.alloc(32)
export const NO_ID = Buffer.alloc(16)

export function encodeIntent(intent: Intent): Buffer {
  return concat(intentHead(intent), intent.keyProof, intent.payload)
}

function intentHead(intent: Omit<Intent, 'keyProof' | 'payload'>): Buffer {
  return concat(
    MAGIC,
    u8(intent.type),
    intent.walletId,
    intent.keyId,
    intent.grantId,
    u32(intent.grantVersion),
    u32(intent.epoch),
    u64(intent.seq),
    u64(intent.expiresAtMs),
    intent.requestId,
    intent.replaces,
  )
}

/** @throws Refusal MALFORMED */
export function decodeIntent(bytes: Uint8Array): Intent {
  const reader = new ByteReader(bytes)
  if (Buffer.compare(reader.take(4), MAGIC) !== 0) throw new Refusal('MALFORMED', 'intent version')
  const type = payloadType(reader.u8())
  const intent: Intent = {
    type,
    walletId: reader.take(16),
    keyId: reader.take(16),
    grantId: reader.take(16),
    grantVersion: reader.u32(),
    epoch: reader.u32(),
    seq: reader.u64(),
    expiresAtMs: reader.u64(),
    requestId: reader.take(16),
    replaces: reader.take(32),
    keyProof: reader.take(32),
    payload: reader.rest(),
  }
  if (intent.payload.length === 0 || intent.payload.length > PAYLOAD_BYTES_MAX) {
    throw new Refusal('MALFORMED', 'payload length')
  }
  return intent
}

function payloadType(value: number): PayloadType {
  if (value === 1 || value === 2 || value === 3 || value === 4) return value
  throw new Refusal('MALFORMED', 'unknown payload type')
}

/** 32 bytes; what the co-signature, the approval and the sealed shares are bound to. */
export function intentId(encoded: Uint8Array): Buffer {
  return taggedHash(TAG.intent, encoded)
}

/**
 * HMAC-SHA256 over all fields of the encoded intent but the proof itself.
 * @param proofKey 32 bytes, see `deriveProofKey`
 */
export function keyProofOver(proofKey: Uint8Array, encoded: Uint8Array): Buffer {
  return createHmac('sha256', proofKey)
    .update(tagged(TAG.keyProof))
    .update(encoded.subarray(0, HEAD_BYTES))
    .update(encoded.subarray(HEAD_BYTES + 32))
    .digest()
}

export function encodeProvenIntent(
  intent: Omit<Intent, 'keyProof'>,
  proofKey: Uint8Array | null,
): Buffer {
  const encoded = concat(intentHead(intent), NO_REFERENCE, intent.payload)
  if (proofKey !== null) keyProofOver(proofKey, encoded).copy(encoded, HEAD_BYTES)
  return encoded
}

export function isAbsent(reference: Uint8Array): boolean {
  return isZero(reference)
}
