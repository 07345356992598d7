import { u32, u64 } from '../../quorum-protocol/bytes.js'
import { TAG, taggedHash } from '../../quorum-protocol/tagged.js'

/** A number never gets a second meaning. */
export const EVIDENCE_KIND = {
  batch: 1,
  wallet: 2,
  unprovenGrant: 3,
  authorizer: 4,
  grant: 5,
  freeze: 6,
  approval: 7,
  member: 8,
} as const
export type EvidenceKind = (typeof EVIDENCE_KIND)[keyof typeof EVIDENCE_KIND]

/** An entry as it is on disk: `hash 32 | time 8 | kind 1 | body`. */
export interface StoredEvidence {
  readonly chain: number
  /** Counts from 0 in each chain. */
  readonly index: number
  readonly bytes: Uint8Array
}

export const EVIDENCE_HASH_BYTES = 32

/** @param content `time | kind | body` */
export function chainHash(
  before: Uint8Array,
  chain: number,
  index: number,
  content: Uint8Array,
): Buffer {
  return taggedHash(TAG.evidence, before, u32(chain), u64(index), content)
}
