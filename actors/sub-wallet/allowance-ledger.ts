import { type AllowanceEntry, allowanceEntries, allowanceKey } from '../../src/domain/allowance.js'
import type { Address, TxId } from '../../src/domain/ids.js'
import type { Reader } from '../../src/store/reader.js'
import type { Transactor } from '../../src/store/transactor.js'
import type { Draft } from './state.js'

/**
 * The ledger of what a wallet ever let others take. Its entries are written with the signed bytes
 * of the transaction that approves, so that nothing is broadcast without its entry. The actor
 * keeps their keys alone, oldest first: enough to bound them.
 *
 * It is complete from the wallet's first day on: both shares of the key sign for this service
 * alone, and sponsored calls leave no allowance behind (`src/contracts/README.md`).
 */

/**
 * Entries of one wallet. Spec silent: beyond it the oldest gives way and the ledger says that it
 * is no longer complete, from when on valuation asks the chain about every contract a call
 * touches. To refuse approvals instead would stop a wallet for good on account of its history.
 */
export const ALLOWANCES_MAX = 1_000

export interface AllowancesRecorded {
  readonly type: 'allowances-recorded'
  readonly entries: readonly AllowanceEntry[]
  /** Keys of entries that gave way. */
  readonly forgotten: readonly string[]
}

/** For the turn that stores the transaction; null when it approves nothing. */
export function allowancesOf(
  keys: ReadonlySet<string>,
  { forecast, chainId, txId }: Pick<Draft, 'forecast' | 'chainId' | 'txId'>,
): AllowancesRecorded | null {
  if (forecast === null || forecast.approvals.length === 0) return null
  const entries = allowanceEntries(forecast.approvals, chainId, txId)
  const after = withEntries(keys, entries)
  const forgotten = [...after].slice(0, Math.max(0, after.size - ALLOWANCES_MAX))
  return { type: 'allowances-recorded', entries, forgotten }
}

/** @returns the keys with those of `entries` as the newest */
export function foldAllowances(
  keys: ReadonlySet<string>,
  { entries, forgotten }: AllowancesRecorded,
): ReadonlySet<string> {
  const after = withEntries(keys, entries)
  for (const key of forgotten) after.delete(key)
  return after
}

function withEntries(keys: ReadonlySet<string>, entries: readonly AllowanceEntry[]): Set<string> {
  const after = new Set(keys)
  for (const key of entries.map(allowanceKey)) {
    after.delete(key)
    after.add(key)
  }
  return after
}

export function writeAllowances(
  transactor: Transactor,
  owner: Address,
  { entries, forgotten }: AllowancesRecorded,
): void {
  for (const entry of entries) transactor.putAllowance(owner, entry)
  if (forgotten.length === 0) return
  for (const key of forgotten) transactor.deleteAllowance(owner, key)
  transactor.putAllowanceLedger(owner, { complete: false })
}

/** Ids sort by time, so the order of the transactions is the order of age. */
export function loadAllowanceKeys(reader: Reader, owner: Address): ReadonlySet<string> {
  const entries = [...reader.allowances(owner)].sort((a, b) => compare(a.txId, b.txId))
  return new Set(entries.map(allowanceKey))
}

function compare(a: TxId, b: TxId): number {
  return a < b ? -1 : Number(a > b)
}
