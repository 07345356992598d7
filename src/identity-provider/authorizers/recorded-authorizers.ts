import type { AuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import { type AuthorizerEntry, encodeEntry } from '../../custody/authorizers/certificate.js'
import type { EvidenceLog } from '../../custody/evidence/evidence-log.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'

/**
 * Stores authorizers together with the evidence that proves them: neither exists without the other.
 */
export interface RecordedAuthorizers {
  /**
   * Stores a verified entry and records it in the log.
   * @returns false when another entry has taken that sequence; resolves when both are on disk
   */
  append(ownerHash: Uint8Array, sequence: number, entry: AuthorizerEntry): Promise<boolean>
}

export function createRecordedAuthorizers(
  store: Pick<AuthorizerStore, 'appendOwed' | 'settleOwed'>,
  evidence: Pick<EvidenceLog, 'append' | 'length'>,
): RecordedAuthorizers {
  return {
    async append(ownerHash, sequence, entry) {
      const body = encodeEntry(entry)
      const proof = { timeMs: Date.now(), kind: EVIDENCE_KIND.authorizer, body }
      const owed = { ...proof, after: evidence.length }
      const number = await store.appendOwed(ownerHash, sequence, entry, owed)
      if (number === null) return false
      await evidence.append(proof)
      await store.settleOwed([number])
      return true
    },
  }
}
