import {
  EVIDENCE_HASH_BYTES,
  EVIDENCE_KIND,
  type EvidenceReader,
} from '../custody/evidence/evidence-log.js'
import { decodeBatchEvidence } from '../custody/evidence/evidence-records.js'
import { decodeHeader } from '../quorum-protocol/batch.js'
import { ByteReader } from '../quorum-protocol/bytes.js'

/** The highest batch sequence in a log, of all chains; 0 when it holds none. */
export function lastBatchSeq(log: EvidenceReader): number {
  let highest = 0
  // Sequences rise within a chain, so only the newest batch of each is decoded.
  let decided = -1
  for (const { chain, bytes } of log.newestFirst()) {
    if (chain === decided) continue
    const reader = new ByteReader(bytes.subarray(EVIDENCE_HASH_BYTES))
    reader.u64()
    if (reader.u8() !== EVIDENCE_KIND.batch) continue
    const { batchSeq } = decodeHeader(decodeBatchEvidence(reader.rest()).header)
    highest = Math.max(highest, batchSeq)
    decided = chain
  }
  return highest
}
