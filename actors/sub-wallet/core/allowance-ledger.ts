import { type AllowanceEntry, allowanceKey } from '../../../src/domain/allowance.js'
import type { CreditAmount } from '../../../src/domain/exposure.js'
import type { Draft, SubWalletState } from './state.js'

/**
 * The ledger of what a wallet ever let others take, and of which lineage paid for it. Its entries
 * are written with the signed bytes of the transaction that approves, so that nothing is broadcast
 * without its entry. The actor keeps them, oldest first.
 *
 * It is complete from the wallet's first day on: both shares of the key sign for this service
 * alone, and sponsored calls leave no allowance behind (`src/contracts/README.md`).
 */

/**
 * Entries of one wallet, some 300 bytes each. Spec silent: beyond it the oldest gives way and the
 * ledger says that it is no longer complete, from when on valuation asks the chain about every
 * contract a call touches. To refuse approvals instead would stop a wallet for good on account of
 * its history. Who paid for what gave way is not known any more, so that it counts in full.
 */
export const ALLOWANCES_MAX = 1_000

export interface AllowancesRecorded {
  readonly type: 'allowances-recorded'
  readonly entries: readonly AllowanceEntry[]
  /** Keys of entries that gave way. */
  readonly forgotten: readonly string[]
}

/** Credits were used, given back, or never existed (`credits.ts`). */
export interface CreditsChanged {
  readonly type: 'credits-changed'
  /** Of the ledger, as they are from now on. */
  readonly entries: readonly AllowanceEntry[]
}

/** By `allowanceKey`, oldest first. */
export type Allowances = ReadonlyMap<string, AllowanceEntry>

type Approving = Pick<Draft, 'basis' | 'call' | 'txId' | 'lineageId' | 'reservation' | 'paid'>

type Ledger = Pick<SubWalletState, 'allowances' | 'allowancesComplete'>

/** For the turn that stores the transaction; null when it approves nothing. */
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

/** Puts those of the event in place as the newest. */
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
