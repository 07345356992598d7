import { knownTermsOf } from '../../contracts/router-intent.js'
import type { Approval } from '../../domain/approval.js'
import type { AuditRecord } from '../../domain/audit.js'
import type { ForeseenOutcome } from '../../domain/foreseen.js'
import { isSponsored } from '../../domain/sponsorship.js'
import type { Transaction } from '../../domain/transaction.js'
import { foreseenByTerms, foreseenByWords } from '../../policy/foreseen-by-words.js'

export const NOT_KEPT =
  'Its predicted outcome is not stored: it is too old, or was made by an older build.'

/**
 * The predicted outcome of a transaction, as of its decision. Only a simulation is stored, with the
 * verdict or the approval; in all other cases the record itself shows it.
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
