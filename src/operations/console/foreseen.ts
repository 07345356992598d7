import { knownTermsOf } from '../../contracts/router-intent.js'
import type { Approval } from '../../domain/approval.js'
import type { AuditRecord } from '../../domain/audit.js'
import type { ForeseenOutcome } from '../../domain/foreseen.js'
import { isSponsored } from '../../domain/sponsorship.js'
import type { Transaction } from '../../domain/transaction.js'
import { foreseenByTerms, foreseenByWords } from '../../policy/foreseen-by-words.js'

export const NOT_KEPT =
  'What it was to do is not kept with it: it is too old, or of an older build.'

/**
 * What a transaction was to do when it was decided. Only a run is kept, with the verdict or with what
 * people were asked; of all else the record itself tells.
 */
export function foreseenOfTransaction(
  tx: Transaction,
  approval: Approval | null,
  verdict: Pick<AuditRecord, 'foreseen'> | undefined,
): ForeseenOutcome | null {
  const { call, kind, valuation } = tx
  const kept = verdict?.foreseen ?? approval?.foreseen.outcome ?? null
  if (kept !== null) return kept
  if (!isSponsored(kind))
    return foreseenByWords({ operation: kind, ...call }, valuation.valueMicros)
  const terms = knownTermsOf(call, approval)
  return terms === null ? null : foreseenByTerms(terms, valuation.valueMicros)
}
