import { type AllowanceEntry, allowanceKey } from '../../src/domain/allowance.js'
import type { Address, TxId } from '../../src/domain/ids.js'
import type { Reader } from '../../src/store/reader.js'
import type { Writer } from '../../src/store/writer.js'
import type { AllowancesRecorded } from './core/allowance-ledger.js'

export function writeAllowances(
  writer: Writer,
  owner: Address,
  { entries, forgotten }: AllowancesRecorded,
): void {
  for (const entry of entries) writer.putAllowance(owner, entry)
  if (forgotten.length === 0) return
  for (const key of forgotten) writer.deleteAllowance(owner, key)
  writer.putAllowanceLedger(owner, { complete: false })
}

/**
 * Loads the allowances, oldest first. Ids sort by time, so sorting by transaction id sorts by age.
 */
export function loadAllowances(reader: Reader, owner: Address): Map<string, AllowanceEntry> {
  const entries = [...reader.allowances.ofWallet(owner)].sort((a, b) => compare(a.txId, b.txId))
  return new Map(entries.map((entry) => [allowanceKey(entry), entry]))
}

function compare(a: TxId, b: TxId): number {
  return a < b ? -1 : Number(a > b)
}
