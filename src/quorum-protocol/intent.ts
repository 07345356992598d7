import { ByteReader, isZero, u256 } from './bytes.js'
import { hmacSha256 } from './hmac.js'
import { PAYLOAD_BYTES_MAX } from './limits.js'
import { Refusal } from './refusal.js'
import { TAG, tagged, taggedHash } from './tagged.js'

/**
 * One requested signature, in its only encoding:
 * ```
 * "AWI1" | type 1 | wallet 16 | key 16 | grant 16 | grant version 4 | epoch 4 | seq 8
 *   | expiry 8 (ms) | request id 16 | replaces 32 | key proof 32 | payload
 * ```
 * Integers are big-endian; an absent `replaces` or key proof is all zeros. An intent with an
 * approval begins with "AWI2", and has these fields before the payload:
 * ```
 * approval 16 | its expiry 8 (ms) | the most it may cost in gas 32 (wei)
 * ```
 */
export interface Intent {
  readonly type: PayloadType
  /** 16 bytes of the sub-wallet id's ULID. */
  readonly walletId: Uint8Array
  /** 16 bytes of the key id's ULID; zeros for the service's own wallets. */
  readonly keyId: Uint8Array
  /** 16 bytes: the id of the key for which the grant was made; its rotations share the grant. */
  readonly grantId: Uint8Array
  readonly grantVersion: number
  readonly epoch: number
  /** 32 × batch sequence + index in the batch: an intent fits only one slot of one batch. */
  readonly seq: number
  readonly expiresAtMs: number
  readonly requestId: Uint8Array
  /** 32 bytes: the approval at the same nonce that this one replaces. */
  readonly replaces: Uint8Array
  /** 32 bytes: the proof that the API key was presented. */
  readonly keyProof: Uint8Array
  /** The approval besides its key's grant; null without one. */
  readonly approval: IntentApproval | null
  readonly payload: Uint8Array
}

/** The fields of an approval's term that the payload does not contain (`src/custody/approvals`). */
export interface IntentApproval {
  /** 16 bytes of the approval id's ULID. */
  readonly approvalId: Uint8Array
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number
  /** Gas limit × the highest fee, in wei. */
  readonly maxNativeWei: bigint
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
const PROOF_BYTES = 32
const APPROVED_MAGIC = Buffer.from('AWI2', 'latin1')
const APPROVAL_BYTES = 16 + 8 + 32
const PROOF_TAG = tagged(TAG.keyProof)
export const NO_REFERENCE = Buffer.alloc(32)
export const NO_ID = Buffer.alloc(16)

/**
 * @param proofKey 32 bytes; null omits the proof
 * @throws RangeError when a field has another width
 */
export function encodeIntent(
  intent: Omit<Intent, 'keyProof'>,
  proofKey: Uint8Array | null,
): Buffer {
  // One buffer filled in place: a list of fields would cost an allocation each, per signature.
  const { approval } = intent
  const payloadAt = HEAD_BYTES + PROOF_BYTES + (approval === null ? 0 : APPROVAL_BYTES)
  const out = Buffer.allocUnsafe(payloadAt + intent.payload.length)
  let at = put(out, 0, approval === null ? MAGIC : APPROVED_MAGIC, 4)
  at = out.writeUInt8(intent.type, at)
  at = put(out, at, intent.walletId, 16)
  at = put(out, at, intent.keyId, 16)
  at = put(out, at, intent.grantId, 16)
  at = out.writeUInt32BE(intent.grantVersion, at)
  at = out.writeUInt32BE(intent.epoch, at)
  at = putU64(out, at, intent.seq)
  at = putU64(out, at, intent.expiresAtMs)
  at = put(out, at, intent.requestId, 16)
  at = put(out, at, intent.replaces, 32)
  if (approval !== null) putApproval(out, at + PROOF_BYTES, approval)
  put(out, payloadAt, intent.payload, intent.payload.length)
  if (proofKey === null) out.fill(0, HEAD_BYTES, HEAD_BYTES + PROOF_BYTES)
  else keyProofOver(proofKey, out).copy(out, HEAD_BYTES)
  return out
}

function put(out: Buffer, at: number, field: Uint8Array, width: number): number {
  if (field.length !== width) throw new RangeError('field of another width')
  out.set(field, at)
  return at + width
}

function putApproval(out: Buffer, at: number, approval: IntentApproval): void {
  const expiryAt = put(out, at, approval.approvalId, 16)
  put(out, putU64(out, expiryAt, approval.expiresAtMs), u256(approval.maxNativeWei), 32)
}

function putU64(out: Buffer, at: number, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not a 53-bit integer')
  out.writeUInt32BE(Math.floor(value / 2 ** 32), at)
  return out.writeUInt32BE(value % 2 ** 32, at + 4)
}

/** @throws Refusal MALFORMED */
export function decodeIntent(bytes: Uint8Array): Intent {
  const reader = new ByteReader(bytes)
  const magic = reader.take(4)
  const isApproved = Buffer.compare(magic, APPROVED_MAGIC) === 0
  if (!isApproved && Buffer.compare(magic, MAGIC) !== 0) {
    throw new Refusal('MALFORMED', 'intent version')
  }
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
    approval: isApproved ? readApproval(reader) : null,
    payload: reader.rest(),
  }
  if (intent.payload.length === 0 || intent.payload.length > PAYLOAD_BYTES_MAX) {
    throw new Refusal('MALFORMED', 'payload length')
  }
  return intent
}

function readApproval(reader: ByteReader): IntentApproval {
  return {
    approvalId: reader.take(16),
    expiresAtMs: reader.u64(),
    maxNativeWei: reader.u256(),
  }
}

function payloadType(value: number): PayloadType {
  if (value === 1 || value === 2 || value === 3 || value === 4) return value
  throw new Refusal('MALFORMED', 'unknown payload type')
}

/** Returns the 32 bytes to which the co-signature, the approval and the sealed shares are bound. */
export function intentId(encoded: Uint8Array): Buffer {
  return taggedHash(TAG.intent, encoded)
}

/**
 * HMAC-SHA256 over all fields of the encoded intent except the proof itself.
 * @param proofKey 32 bytes, see `deriveProofKey`
 */
export function keyProofOver(proofKey: Uint8Array, encoded: Uint8Array): Buffer {
  const length = PROOF_TAG.length + encoded.length - PROOF_BYTES
  return hmacSha256(proofKey, length, (room, at) => {
    const head = at + PROOF_TAG.length
    room.set(PROOF_TAG, at)
    room.set(encoded.subarray(0, HEAD_BYTES), head)
    room.set(encoded.subarray(HEAD_BYTES + PROOF_BYTES), head + HEAD_BYTES)
  })
}

/**
 * Tells whether it was judged by its key's grant. Without the key's proof and an approval it can
 * only be a repeat, a raised fee, a cancel, the end of a delegation, or a call of the service's own
 * wallets.
 */
export function usesGrant({ keyProof, approval }: Pick<Intent, 'keyProof' | 'approval'>): boolean {
  return approval !== null || !isAbsent(keyProof)
}

export function isAbsent(reference: Uint8Array): boolean {
  return isZero(reference)
}
