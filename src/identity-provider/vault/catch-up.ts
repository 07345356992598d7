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
import { countApproved } from './judge-policy.js'
import type { LedgerStore, LedgerWriter } from './ledger-store.js'

/**
 * Before the first approval of a run: reads from the evidence what the run before decided and its
 * ledger did not get to write, and which intents have not expired yet. Durable on return.
 * @param path of the evidence, for errors
 * @throws Error that names the entries which are not what was written: what was approved there is
 * not known, so nothing may be approved on top of it
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
      const approved = putApproved(batch, batch.intents.map(intentId), writer)
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
  /** The ledger has all of it. */
  readonly isCovered: boolean
}

/**
 * Entries from `covered` on, and before them those since `sinceMs`: what is put twice is the same.
 * @returns in the order of the decisions, which is that of the sequences: a signature that takes
 * long may let a later batch enter the log first
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
    throw new Error(`${problems.join('; ')}. Restore the user side from a backup, and fence it.`)
  }
  return batches
    .map(({ value, index, timeMs }) => ({
      ...{ value, timeMs, isCovered: index < covered },
      seq: decodeHeader(value.header).batchSeq,
    }))
    .sort((a, b) => a.seq - b.seq)
}

/** For the counts of policies, but for what they had when the ledger was last written. */
function countAgain(
  approved: readonly ApprovedIntent[],
  atMs: number,
  ledger: LedgerStore,
  writer: LedgerWriter,
): void {
  for (const { intent, payload, isNew } of approved) {
    if (!isNew || !usesGrant(intent) || ledger.isCounted(intent.seq)) continue
    const key = ledger.key(intent.keyId)
    const grant = key === null ? null : ledger.grant(key.grantId)
    if (key === null || grant === null) continue
    const own = policiesOf({ key, grant })
    for (const bound of pathOf(key.grantId, own, ancestorsOf(ledger, grant), ledger)) {
      const after = countApproved(bound.policies, payload, bound.usage, atMs)
      if (after !== null) writer.putUsage(bound.grantId, after)
    }
  }
}

function timeOf({ bytes }: StoredEvidence): number {
  return new ByteReader(bytes.subarray(EVIDENCE_HASH_BYTES)).u64()
}
