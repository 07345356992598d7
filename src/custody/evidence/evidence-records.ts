import { ByteReader, concat, u8, u32, u64 } from '../protocol/bytes.js'
import { BATCH_INTENTS_MAX, PAYLOAD_BYTES_MAX } from '../protocol/limits.js'
import { Refusal } from '../protocol/refusal.js'

/** Bodies of evidence, in fixed binary: both logs hold the same bytes for the same event. */
export interface BatchEvidence {
  readonly header: Uint8Array
  readonly intents: readonly Uint8Array[]
  /** 64 bytes each. */
  readonly coSignature: Uint8Array
  readonly approval: Uint8Array
  readonly bitmap: number
  readonly quorumBoot: Uint8Array
}

const HEADER_BYTES = 33
/** An intent's fields before its payload, with room. */
const INTENT_BYTES_MAX = PAYLOAD_BYTES_MAX + 512

export function encodeBatchEvidence(batch: BatchEvidence): Buffer {
  return concat(
    batch.header,
    u8(batch.intents.length),
    ...batch.intents.flatMap((intent) => [u32(intent.length), intent]),
    batch.coSignature,
    batch.approval,
    u32(batch.bitmap),
    batch.quorumBoot,
  )
}

/** @throws Refusal MALFORMED */
export function decodeBatchEvidence(bytes: Uint8Array): BatchEvidence {
  const reader = new ByteReader(bytes)
  const header = reader.take(HEADER_BYTES)
  const count = reader.u8()
  if (count > BATCH_INTENTS_MAX) throw new Refusal('MALFORMED', 'batch size')
  const intents: Uint8Array[] = []
  for (let i = 0; i < count; i++) {
    const length = reader.u32()
    if (length > INTENT_BYTES_MAX) throw new Refusal('MALFORMED', 'intent length')
    intents.push(reader.take(length))
  }
  const batch = {
    header,
    intents,
    coSignature: reader.take(64),
    approval: reader.take(64),
    bitmap: reader.u32(),
    quorumBoot: reader.take(16),
  }
  reader.end()
  return batch
}

export interface WalletEvidence {
  readonly certificate: Uint8Array
  readonly serviceSignature: Uint8Array
  readonly userSignature: Uint8Array
  readonly selfTest: Uint8Array
}

export function encodeWalletEvidence(wallet: WalletEvidence): Buffer {
  return concat(wallet.serviceSignature, wallet.userSignature, wallet.selfTest, wallet.certificate)
}

/** @throws Refusal MALFORMED */
export function decodeWalletEvidence(bytes: Uint8Array): WalletEvidence {
  const reader = new ByteReader(bytes)
  return {
    serviceSignature: reader.take(64),
    userSignature: reader.take(64),
    selfTest: reader.take(65),
    certificate: reader.rest(),
  }
}

/** A grant as it became. No proof key and no token is in it. */
export interface GrantEvidence {
  readonly keyId: Uint8Array
  readonly grantId: Uint8Array
  readonly version: number
  readonly walletId: Uint8Array
  /** 32 bytes: SHA-256 of the user id. */
  readonly ownerHash: Uint8Array
  readonly permission: 'read' | 'trade'
  readonly expiresAtMs: number | null
  readonly revoked: boolean
  /** Ascending. */
  readonly chains: readonly number[]
}

const CHAINS_MAX = 16

export function encodeGrantEvidence(grant: GrantEvidence): Buffer {
  return concat(
    grant.keyId,
    grant.grantId,
    u32(grant.version),
    grant.walletId,
    grant.ownerHash,
    u8(grant.permission === 'trade' ? 2 : 1),
    // No key expires at the epoch, so that zero can stand for never.
    u64(grant.expiresAtMs ?? 0),
    u8(grant.revoked ? 1 : 0),
    u8(grant.chains.length),
    ...grant.chains.map(u32),
  )
}

/** @throws Refusal MALFORMED */
export function decodeGrantEvidence(bytes: Uint8Array): GrantEvidence {
  const reader = new ByteReader(bytes)
  const keyId = reader.take(16)
  const grantId = reader.take(16)
  const version = reader.u32()
  const walletId = reader.take(16)
  const ownerHash = reader.take(32)
  const permission = reader.u8() === 2 ? 'trade' : 'read'
  const expires = reader.u64()
  const revoked = reader.u8() === 1
  const count = reader.u8()
  if (count > CHAINS_MAX) throw new Refusal('MALFORMED', 'chains')
  const chains = Array.from({ length: count }, () => reader.u32())
  reader.end()
  const expiresAtMs = expires === 0 ? null : expires
  return {
    keyId,
    grantId,
    version,
    walletId,
    ownerHash,
    permission,
    expiresAtMs,
    revoked,
    chains,
  }
}
