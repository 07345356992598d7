import { hasBit } from '../../quorum-protocol/batch.js'
import { ByteReader } from '../../quorum-protocol/bytes.js'
import { decodeIntent, intentId, type PayloadType } from '../../quorum-protocol/intent.js'
import type { EvidenceReader } from './evidence-log.js'
import { decodeBatchEvidence } from './evidence-records.js'
import { EVIDENCE_HASH_BYTES, EVIDENCE_KIND, type StoredEvidence } from './stored-evidence.js'

/** An approval by the identity provider as a log records it; the bytes are copies. */
export interface RecordedApproval {
  readonly intentId: Buffer
  readonly type: PayloadType
  readonly chain: number
  readonly index: number
  /** The hash of the entry, which continues the chain. */
  readonly hash: Buffer
  /** The time by the clock of the log's domain. */
  readonly recordedAtMs: number
  /** 64 bytes: the signature over the intent's batch. */
  readonly signature: Buffer
  /** The quorum signer's boot that the approval is valid for. */
  readonly quorumBoot: Buffer
}

export interface ApprovalSought {
  readonly walletId: Uint8Array
  /** The period in which it was recorded, if it was. */
  readonly sinceMs: number
  readonly untilMs: number
  /** Only this chain; absent for any. */
  readonly chain?: number
  /** Tells by the intent's id or its request's id whether this is the approval. */
  readonly isIt: (intentId: Uint8Array, requestId: Uint8Array) => boolean
}

/**
 * How many entries of one chain are searched, which takes some milliseconds: three seconds of one
 * thread at its fastest. An approval is recorded while the quorum signer signs, so it is almost
 * always among the first.
 */
const ROWS_SCANNED_MAX = 512

/**
 * Finds the last such approval before `untilMs`. There is no index; a chain is in order of time, so
 * a binary search finds the moment.
 */
export function findApproval(
  log: Pick<EvidenceReader, 'chains' | 'newestFirst' | 'at'>,
  sought: ApprovalSought,
): RecordedApproval | null {
  for (const chain of sought.chain === undefined ? log.chains() : [sought.chain]) {
    const found = findIn(log, chain, sought)
    if (found !== null) return found
  }
  return null
}

function findIn(
  log: Pick<EvidenceReader, 'newestFirst' | 'at'>,
  chain: number,
  sought: ApprovalSought,
): RecordedApproval | null {
  const below = firstAfter(log, chain, sought.untilMs)
  let seen = 0
  for (const entry of log.newestFirst(chain, below)) {
    if (seen++ === ROWS_SCANNED_MAX || timeOf(entry) < sought.sinceMs) return null
    const found = approvalIn(entry, sought)
    if (found !== null) return found
  }
  return null
}

/** Returns the chain's first index with a later time. */
function firstAfter(
  log: Pick<EvidenceReader, 'newestFirst' | 'at'>,
  chain: number,
  untilMs: number,
): number {
  let [low, high] = [0, 0]
  for (const { index } of log.newestFirst(chain)) {
    high = index + 1
    break
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const entry = log.at(chain, middle)
    if (entry !== null && timeOf(entry) > untilMs) high = middle
    else low = middle + 1
  }
  return low
}

function timeOf({ bytes }: StoredEvidence): number {
  return new ByteReader(bytes.subarray(EVIDENCE_HASH_BYTES)).u64()
}

function approvalIn(
  { chain, index, bytes }: StoredEvidence,
  { walletId, isIt }: ApprovalSought,
): RecordedApproval | null {
  // Most entries belong to other wallets, and hashing their intents would take longest.
  if (Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(walletId) < 0) return null
  const reader = new ByteReader(bytes)
  const hash = reader.take(EVIDENCE_HASH_BYTES)
  const recordedAtMs = reader.u64()
  if (reader.u8() !== EVIDENCE_KIND.batch) return null
  const { intents, bitmap, approval, quorumBoot } = decodeBatchEvidence(reader.rest())
  for (const [place, encoded] of intents.entries()) {
    if (!hasBit(bitmap, place)) continue
    const { walletId: of, requestId, type } = decodeIntent(encoded)
    if (Buffer.compare(of, walletId) !== 0) continue
    const id = intentId(encoded)
    if (!isIt(id, requestId)) continue
    return {
      ...{ intentId: id, type, chain, index, recordedAtMs },
      hash: Buffer.from(hash),
      signature: Buffer.from(approval),
      quorumBoot: Buffer.from(quorumBoot),
    }
  }
  return null
}
