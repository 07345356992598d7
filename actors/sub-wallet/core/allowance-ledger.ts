import { type AllowanceEntry, allowanceKey } from '../../../src/domain/allowance.js'
import type { CreditAmount } from '../../../src/domain/exposure.js'
import type { Draft, SubWalletState } from './state.js'

/**
 * The ledger records every allowance that the wallet has ever given and the lineage whose caps paid
 * for it. An entry is committed with the signed bytes of the transaction that gives the allowance,
 * so nothing is broadcast without its entry. The actor keeps the entries in memory, oldest first.
 *
 * The ledger is complete from the wallet's first day: both shares of the key sign only for this
 * service, and sponsored calls leave no allowance behind (`src/contracts/README.md`).
 */

/**
 * The most entries of one wallet, about 300 bytes each. Spec silent: beyond this bound the oldest
 * entry is forgotten and the ledger is marked incomplete; from then on valuation reads the
 * allowances of every contract that a call touches from the chain. Refusing calls instead would
 * stop a wallet for good because of its history. Who paid for a forgotten allowance is unknown, so
 * its use counts in full.
 */
export const ALLOWANCES_MAX = 1_000

export interface AllowancesRecorded {
  readonly type: 'allowances-recorded'
  readonly entries: readonly AllowanceEntry[]
  /** The keys of the entries that were forgotten to keep the bound. */
  readonly forgotten: readonly string[]
}

/** Credits were used, given back or cancelled (`credits.ts`). */
export interface CreditsChanged {
  readonly type: 'credits-changed'
  /** The changed entries, as they are after this event. */
  readonly entries: readonly AllowanceEntry[]
}

/** Entries by `allowanceKey`, oldest first. */
type Allowances = ReadonlyMap<string, AllowanceEntry>

type Approving = Pick<Draft, 'basis' | 'call' | 'txId' | 'lineageId' | 'reservation' | 'paid'>

type Ledger = Pick<SubWalletState, 'allowances' | 'allowancesComplete'>

/**
 * Returns the event for the turn that stores the transaction, or null when the call gives no
 * allowance.
 */
export function allowancesOf(
  { allowances, allowancesComplete }: Ledger,
  draft: Approving,
): AllowancesRecorded | null {
  const { basis, txId, lineageId, reservation } = draft
  const { chainId } = draft.call
  if (basis === null || basis.approvals.length === 0) return null
  const entries = basis.approvals.map((approval): AllowanceEntry => {
    const { token, spender, kind, tokenId, amount } = approval
    const left = draft.paid?.made.find((it) => isSame(it, approval))?.amount ?? 0n
    const named = { chainId, token, spender, kind, tokenId: tokenId ?? null }
    if (amount === 'all') return { ...named, txId, paid: null }
    const before = allowances.get(allowanceKey(named))
    const replacesOthers =
      before === undefined ? !allowancesComplete : before.paid?.lineageId !== lineageId
    const paid = { lineageId, amount, left, day: reservation.day, replacesOthers }
    return { ...named, txId, paid }
  })
  const after = withEntries(allowances, entries)
  const forgotten = [...after.keys()].slice(0, Math.max(0, after.size - ALLOWANCES_MAX))
  return { type: 'allowances-recorded', entries, forgotten }
}

function isSame(
  a: Pick<CreditAmount, 'token' | 'spender' | 'kind'>,
  b: Pick<AllowanceEntry, 'token' | 'spender' | 'kind'>,
): boolean {
  return a.kind === b.kind && a.spender === b.spender && a.token === b.token
}

/** Stores the event's entries as the newest of the ledger. */
export function foldAllowances(
  state: SubWalletState,
  { entries, forgotten }: AllowancesRecorded,
): void {
  const after = withEntries(state.allowances, entries)
  for (const key of forgotten) after.delete(key)
  state.allowances = after
  if (forgotten.length > 0) state.allowancesComplete = false
}

export function foldCredits(state: SubWalletState, { entries }: CreditsChanged): void {
  for (const entry of entries) state.allowances.set(allowanceKey(entry), entry)
}

function withEntries(
  allowances: Allowances,
  entries: readonly AllowanceEntry[],
): Map<string, AllowanceEntry> {
  const after = new Map(allowances)
  for (const entry of entries) {
    const key = allowanceKey(entry)
    after.delete(key)
    after.set(key, entry)
  }
  return after
}
