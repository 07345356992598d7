import { readFileSync } from 'node:fs'
import { missingEvidence, onChainTransactions } from '../audit/on-chain.js'
import type { AuditReport } from '../audit/verify-evidence.js'

/** Explains which transactions of a JSON file have no evidence, in one sentence each. */
export async function unexplainedTransactions(path: string, report: AuditReport) {
  const transactions = onChainTransactions.parse(JSON.parse(readFileSync(path, 'utf8')))
  const missing: string[] = []
  for (const transaction of transactions) {
    const reason = await missingEvidence(transaction, report)
    if (reason !== null) missing.push(reason)
  }
  return missing
}
