import type { EvidenceReader } from '../custody/evidence/evidence-log.js'
import { decodeBatchEvidence } from '../custody/evidence/evidence-records.js'
import {
  EVIDENCE_HASH_BYTES,
  EVIDENCE_KIND,
  type StoredEvidence,
} from '../custody/evidence/stored-evidence.js'
import { decodeHeader } from '../quorum-protocol/batch.js'
import { ByteReader } from '../quorum-protocol/bytes.js'

/**
 * Returns the highest batch sequence in a log over all chains; 0 when it has none. Sequences rise
 * within a chain, so only its newest batch is read: logs are never pruned, and every start needs
 * this.
 */
export function lastBatchSeq(log: Pick<EvidenceReader, 'chains' | 'newestFirst'>): number {
  let highest = 0
  for (const chain of log.chains()) highest = Math.max(highest, lastIn(log.newestFirst(chain)))
  return highest
}

function lastIn(newestFirst: Iterable<StoredEvidence>): number {
  for (const { bytes } of newestFirst) {
    const reader = new ByteReader(bytes.subarray(EVIDENCE_HASH_BYTES))
    reader.u64()
    if (reader.u8() !== EVIDENCE_KIND.batch) continue
    return decodeHeader(decodeBatchEvidence(reader.rest()).header).batchSeq
  }
  return 0
}
