import { ByteReader, concat, u8, u32, u64 } from './bytes.js'
import { BATCH_INTENTS_MAX } from './limits.js'
import { Refusal } from './refusal.js'
import { TAG, tagged, taggedHash } from './tagged.js'

/** Up to 32 intents under one co-signature and one approval. */
export interface BatchHeader {
  /** 16 bytes. */
  readonly batchId: Uint8Array
  /** Lane × 2^24 + count within the lane, strictly increasing; see `laneOf`. */
  readonly batchSeq: number
  /** 1 to 32. */
  readonly count: number
  /** 8 bytes: which co-signer key signed. */
  readonly kid: Uint8Array
}

export function encodeHeader(header: BatchHeader): Buffer {
  return concat(header.batchId, u64(header.batchSeq), u8(header.count), header.kid)
}

/** @throws Refusal MALFORMED */
export function decodeHeader(bytes: Uint8Array): BatchHeader {
  const reader = new ByteReader(bytes)
  const header = {
    batchId: reader.take(16),
    batchSeq: reader.u64(),
    count: reader.u8(),
    kid: reader.take(8),
  }
  reader.end()
  if (header.count < 1 || header.count > BATCH_INTENTS_MAX) {
    throw new Refusal('MALFORMED', 'batch size')
  }
  return header
}

/**
 * Returns what the co-signer signs.
 * @param ids intent ids in their order
 */
export function coSignMessage(header: Uint8Array, ids: readonly Uint8Array[]): Buffer {
  return tagged(TAG.coSignBatch, header, ...ids)
}

/** Returns what the identity provider signs over a co-signed batch. */
export function approvalMessage(
  coSigned: Uint8Array,
  bitmap: number,
  quorumBoot: Uint8Array,
): Buffer {
  return tagged(TAG.userApprove, taggedHash(TAG.batch, coSigned), u32(bitmap), quorumBoot)
}

/**
 * A lane is one connection's sequence of batches. The identity provider gives each lane number out
 * once, and accepts a lane's sequences in rising order: the service's threads need no coordination.
 */
const LANE_BATCHES = 2 ** 24
/** 2^24 lanes of 2^24 batches of 32 intents still count below 2^53. */
export const LANES_MAX = 2 ** 24

export function laneOf(batchSeq: number): number {
  return Math.floor(batchSeq / LANE_BATCHES)
}

/** Returns the sequence below a lane's first batch. */
export function laneStart(lane: number): number {
  return lane * LANE_BATCHES
}

export function seqOf(batchSeq: number, index: number): number {
  return batchSeq * BATCH_INTENTS_MAX + index
}

/** Tells whether an intent's bit is set, which means approved; bit 0 is the first. */
export function hasBit(bitmap: number, index: number): boolean {
  return ((bitmap >>> index) & 1) === 1
}

export function withBit(bitmap: number, index: number): number {
  return (bitmap | (1 << index)) >>> 0
}
