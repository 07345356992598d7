import { hasBit } from '../../quorum-protocol/batch.js'
import { ByteReader } from '../../quorum-protocol/bytes.js'
import { decodeIntent, intentId, type PayloadType } from '../../quorum-protocol/intent.js'
import type { EvidenceReader } from './evidence-log.js'
import { decodeBatchEvidence } from './evidence-records.js'
import { EVIDENCE_HASH_BYTES, EVIDENCE_KIND, type StoredEvidence } from './stored-evidence.js'

/** An approval of the identity provider, as a log has it; bytes are copies. */
export interface RecordedApproval {
  readonly intentId: Buffer
  readonly type: PayloadType
  readonly chain: number
  readonly index: number
  /** Of the entry, by which the chain goes on. */
  readonly hash: Buffer
  /** By the clock of the log's domain. */
  readonly recordedAtMs: number
  /** Over the batch that the intent is of; 64 bytes. */
  readonly signature: Buffer
  /** The boot of the quorum signer that it is good for. */
  readonly quorumBoot: Buffer
}

export interface ApprovalSought {
  readonly walletId: Uint8Array
  /** Between which it was recorded, if it was. */
  readonly sinceMs: number
  readonly untilMs: number
  /** In this chain alone; absent: in any. */
  readonly chain?: number
  /** By the id of the intent, or by that of its request. */
  readonly isIt: (intentId: Uint8Array, requestId: Uint8Array) => boolean
}

/**
 * Entries of one chain that are looked at, some milliseconds: three seconds of one thread at its
 * fastest. An approval is recorded while the quorum signer signs, so that it is among the first of
 * them nearly always.
 */
const LOOKED_AT_MAX = 512

/**
 * The last such approval before then. No index names them: a chain is in the order of its times, so
 * the moment is found by halves.
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
    if (seen++ === LOOKED_AT_MAX || timeOf(entry) < sought.sinceMs) return null
    const found = approvalIn(entry, sought)
    if (found !== null) return found
  }
  return null
}

/** The first index of the chain that is later. */
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
  // Most entries are of other wallets, and to hash their intents would take the longest.
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
