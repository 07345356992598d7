import type { AuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import { type AuthorizerEntry, encodeEntry } from '../../custody/authorizers/certificate.js'
import type { EvidenceLog } from '../../custody/evidence/evidence-log.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'

/** Authorizers that the evidence proves: neither is ever without the other. */
export interface RecordedAuthorizers {
  /**
   * Keeps a verified entry, and has the log prove it once it is on disk.
   * @returns false when its place was taken meanwhile; resolves when both are on disk
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
