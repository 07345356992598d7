import {
  EVIDENCE_HASH_BYTES,
  EVIDENCE_KIND,
  type EvidenceLog,
} from '../../custody/evidence/evidence-log.js'
import { type BatchEvidence, decodeBatchEvidence } from '../../custody/evidence/evidence-records.js'
import { decodeHeader } from '../../custody/protocol/batch.js'
import { ByteReader } from '../../custody/protocol/bytes.js'
import { intentId } from '../../custody/protocol/intent.js'
import { INTENT_LIFETIME_MS_MAX } from '../../custody/protocol/limits.js'
import { putApproved } from './fence.js'
import type { LedgerStore } from './ledger-store.js'

/**
 * Before the first approval of a run: reads from the evidence what the run before decided and its
 * ledger did not get to write, and which intents have not expired yet. Durable on return.
 */
export async function catchUp(
  ledger: LedgerStore,
  evidence: EvidenceLog,
  nowMs: number,
): Promise<void> {
  const batches = latestBatches(evidence, ledger.covered, nowMs - INTENT_LIFETIME_MS_MAX)
  const { flushed } = ledger.commit((writer) => {
    for (const batch of batches) {
      const approved = putApproved(batch, batch.intents.map(intentId), writer)
      const expiries = approved.map(({ intent }) => intent.expiresAtMs)
      const ids = approved.map(({ id }) => id)
      if (ids.length > 0) writer.rememberIntents(Math.max(...expiries), ids)
    }
  })
  await flushed
}

/**
 * Entries from `covered` on, and before them those since `sinceMs`: what is put twice is the same.
 * @returns in the order of the decisions, which is that of the sequences: a signature that takes
 * long may let a later batch enter the log first
 */
function latestBatches(evidence: EvidenceLog, covered: number, sinceMs: number): BatchEvidence[] {
  const batches: { seq: number; batch: BatchEvidence }[] = []
  for (const { index, bytes } of evidence.newestFirst()) {
    const reader = new ByteReader(bytes.subarray(EVIDENCE_HASH_BYTES))
    const timeMs = reader.u64()
    if (index < covered && timeMs < sinceMs) break
    if (reader.u8() !== EVIDENCE_KIND.batch) continue
    const batch = decodeBatchEvidence(reader.rest())
    batches.push({ seq: decodeHeader(batch.header).batchSeq, batch })
  }
  return batches.sort((a, b) => a.seq - b.seq).map(({ batch }) => batch)
}
