import type { EvidenceLog } from '../../custody/evidence/evidence-log.js'
import type { BatchEvidence } from '../../custody/evidence/evidence-records.js'
import { readEvidence } from '../../custody/evidence/read-evidence.js'
import { EVIDENCE_HASH_BYTES, type StoredEvidence } from '../../custody/evidence/stored-evidence.js'
import { decodeHeader } from '../../quorum-protocol/batch.js'
import { ByteReader } from '../../quorum-protocol/bytes.js'
import { intentId, usesGrant } from '../../quorum-protocol/intent.js'
import { INTENT_LIFETIME_MS_MAX } from '../../quorum-protocol/limits.js'
import { ancestorsOf } from './ancestors.js'
import { type ApprovedIntent, putApproved } from './fence.js'
import { pathOf, policiesOf } from './granted.js'
import { countApproved, withRaisedFee } from './judge-policy.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'

/**
 * Runs before the first approval after a start. It reads from the evidence the decisions that the
 * last run did not write to its ledger, and the intents that have not expired. The result is
 * durable on return.
 * @param path the evidence's path, for errors
 * @throws Error that names the damaged entries: what they approved is unknown, so nothing may be
 * approved after them
 */
export async function catchUp(
  ledger: LedgerStore,
  evidence: EvidenceLog,
  path: string,
  nowMs: number,
): Promise<void> {
  const since = nowMs - INTENT_LIFETIME_MS_MAX
  const batches = latestBatches(evidence, path, ledger.covered, since)
  const { flushed } = ledger.commit((writer) => {
    for (const { value: batch, timeMs, isCovered } of batches) {
      const approved = putApproved(batch, batch.intents.map(intentId), writer, timeMs)
      if (!isCovered) countAgain(approved, timeMs, ledger, writer)
      const expiries = approved.map(({ intent }) => intent.expiresAtMs)
      const ids = approved.map(({ id }) => id)
      if (ids.length > 0) writer.rememberIntents(Math.max(...expiries), ids)
    }
  })
  await flushed
}

interface LatestBatch {
  readonly value: BatchEvidence
  readonly timeMs: number
  /** True when the ledger has the whole batch. */
  readonly isCovered: boolean
}

/**
 * Reads the entries after `covered`, and before them those since `sinceMs`; applying one twice
 * changes nothing.
 * @returns the batches in order of their sequences, which is the order of the decisions: a slow
 * signature may let a later batch enter the log first
 */
function latestBatches(
  evidence: EvidenceLog,
  path: string,
  covered: number,
  sinceMs: number,
): LatestBatch[] {
  const latest: StoredEvidence[] = []
  let before: StoredEvidence | undefined
  for (const entry of evidence.newestFirst()) {
    if (entry.index < covered && timeOf(entry) < sinceMs) {
      before = entry
      break
    }
    latest.push(entry)
  }
  const { batches, problems } = readEvidence(path, latest.reverse(), before)
  if (problems.length > 0) {
    throw new Error(
      `${problems.join('; ')}. Restore the identity provider from a backup, then fence it with countersign custody fence.`,
    )
  }
  return batches
    .map(({ value, index, timeMs }) => ({
      ...{ value, timeMs, isCovered: index < covered },
      seq: decodeHeader(value.header).batchSeq,
    }))
    .sort((a, b) => a.seq - b.seq)
}

/**
 * Counts again for the policies, except what their counts already had when the ledger was written
 * last.
 */
function countAgain(
  approved: readonly ApprovedIntent[],
  atMs: number,
  ledger: LedgerStore,
  writer: LedgerWriter,
): void {
  for (const { intent, payload, isNew, raised } of approved) {
    const isCall = isNew && usesGrant(intent)
    if ((!isCall && raised === null) || ledger.isCounted(intent.seq)) continue
    const key = ledger.key(raised?.gasOfKey ?? intent.keyId)
    const grant = key === null ? null : ledger.grant(key.grantId)
    if (key === null || grant === null) continue
    const own = policiesOf({ key, grant })
    for (const bound of pathOf(key.grantId, own, ancestorsOf(ledger, grant), ledger)) {
      const after =
        raised === null
          ? countApproved(bound.policies, payload, bound.usage, atMs)
          : withRaisedFee(bound, payload.chainId, raised.extraWei, atMs)
      if (after !== null) writer.putUsage(bound.grantId, after)
    }
  }
}

function timeOf({ bytes }: StoredEvidence): number {
  return new ByteReader(bytes.subarray(EVIDENCE_HASH_BYTES)).u64()
}
