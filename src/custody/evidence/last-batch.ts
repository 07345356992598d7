import { decodeHeader } from '../protocol/batch.js'
import { ByteReader } from '../protocol/bytes.js'
import { EVIDENCE_HASH_BYTES, EVIDENCE_KIND, type EvidenceLog } from './evidence-log.js'
import { decodeBatchEvidence } from './evidence-records.js'

/** The batch sequence of the newest batch in a log; 0 when it holds none. */
export function lastBatchSeq(log: EvidenceLog): number {
  for (const { bytes } of log.newestFirst()) {
    const reader = new ByteReader(bytes.subarray(EVIDENCE_HASH_BYTES))
    reader.u64()
    if (reader.u8() !== EVIDENCE_KIND.batch) continue
    return decodeHeader(decodeBatchEvidence(reader.rest()).header).batchSeq
  }
  return 0
}
