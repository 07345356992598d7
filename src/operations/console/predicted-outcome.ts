import { knownTermsOf } from '../../contracts/router-intent.js'
import type { Approval } from '../../domain/approval.js'
import type { AuditRecord } from '../../domain/audit.js'
import type { PredictedOutcome } from '../../domain/predicted-outcome.js'
import { isSponsored } from '../../domain/sponsorship.js'
import type { Transaction } from '../../domain/transaction.js'
import { predictFromCalldata, predictFromTerms } from '../../policy/predict-from-calldata.js'

export const NOT_KEPT =
  'Its predicted outcome is not stored: it is too old, or was made by an older build.'

/**
 * The predicted outcome of a transaction, as of its decision. Only a simulation is stored, with the
 * verdict or the approval; in all other cases the record itself shows it.
 */
export function predictedOfTransaction(
  tx: Transaction,
  approval: Approval | null,
  verdict: Pick<AuditRecord, 'predicted'> | undefined,
): PredictedOutcome | null {
  const { call, kind, valuation } = tx
  const kept = verdict?.predicted ?? approval?.foreseen.outcome ?? null
  if (kept !== null) return kept
  if (!isSponsored(kind))
    return predictFromCalldata({ operation: kind, ...call }, valuation.valueMicros)
  const terms = knownTermsOf(call, approval)
  return terms === null ? null : predictFromTerms(terms, valuation.valueMicros)
}
