import {
  type AllowanceEntry,
  allowanceKey,
  type CreditUse,
  type PricedAllowanceKind,
} from '../../../src/domain/allowance.js'
import type { CreditAmount, Credits } from '../../../src/domain/exposure.js'
import type { Address, LineageId, TxId } from '../../../src/domain/ids.js'
import { isCancelledBy, type Transaction } from '../../../src/domain/transaction.js'
import type { CreditsChanged } from './allowance-ledger.js'
import type { SubWalletState } from './state.js'

/**
 * What an allowance has counted against a cap becomes a credit of that lineage: when the spender
 * uses the allowance later on the same day, it counts nothing more. A credit belongs to one
 * lineage, chain, token and spender. It starts with the transaction that gives the allowance; it
 * ends with the UTC day, with a new allowance in its place or with the failure of that transaction;
 * and it is used in the same step that reserves the remaining spend.
 *
 * Spec silent: a credit is bounded by the allowance that the chain reports, so reducing an
 * allowance ends the credit, and what was spent until then stays spent.
 */

/**
 * @param day the UTC day of the counters that pay
 * @param after the calls under way after which the allowances were read; the allowances already
 * lack what these calls take
 */
export function creditsOf(
  state: SubWalletState,
  lineageId: LineageId,
  chainId: number,
  day: number,
  after: readonly TxId[],
): Credits {
  const heldBy = heldByKey(state, new Set(after))
  return {
    of(token, spender, kind) {
      const key = keyOf(chainId, token, spender, kind)
      const entry = state.allowances.get(key)
      const paid = entry?.paid ?? null
      if (entry === undefined || paid === null || paid.lineageId !== lineageId) return null
      if (paid.replacesOthers && !isMined(state, entry)) return null
      const { drafted, unseen } = heldBy.get(key) ?? NOTHING_HELD
      const left = paid.day === day && paid.left > drafted ? paid.left - drafted : 0n
      return { left, held: unseen }
    },
    withinPermit2(token) {
      if (!state.allowancesComplete) return null
      let amount = 0n
      for (const entry of state.allowances.values()) {
        if (entry.kind !== 'permit2' || entry.chainId !== chainId || entry.token !== token) continue
        const paid = entry.paid ?? null
        if (paid === null) return null
        if (paid.lineageId !== lineageId) amount += paid.amount
      }
      return amount
    },
  }
}

function keyOf(
  chainId: number,
  token: Address,
  spender: Address,
  kind: PricedAllowanceKind,
): string {
  return allowanceKey({ chainId, token, spender, kind, tokenId: null })
}

function isMined({ open }: SubWalletState, { txId }: AllowanceEntry): boolean {
  const tx = open.get(txId)?.tx
  if (tx === undefined) return true
  return tx.mined?.outcome === 'success' && !isCancelledBy(tx, tx.mined)
}

interface Held {
  /** The amount given by drafts, which the ledger does not contain yet. */
  drafted: bigint
  /** The amount taken by calls that the allowances were read without. */
  unseen: bigint
}

const NOTHING_HELD: Held = { drafted: 0n, unseen: 0n }

function heldByKey(
  { drafts, open }: SubWalletState,
  after: ReadonlySet<TxId>,
): ReadonlyMap<string, Held> {
  const held = new Map<string, Held>()
  const heldOf = (key: string): Held => {
    const known = held.get(key)
    if (known !== undefined) return known
    const made = { drafted: 0n, unseen: 0n }
    held.set(key, made)
    return made
  }
  for (const { draft } of drafts.values()) {
    for (const { token, spender, kind, amount } of draft.paid?.uses ?? []) {
      const of = heldOf(keyOf(draft.call.chainId, token, spender, kind))
      of.drafted += amount
      if (!after.has(draft.txId)) of.unseen += amount
    }
  }
  for (const { tx } of open.values()) {
    if (tx.mined !== null || after.has(tx.txId)) continue
    for (const { key, amount } of tx.credits ?? []) heldOf(key).unseen += amount
  }
  return held
}

/**
 * The credits that a transaction records as used, without those that have ended in the meantime.
 */
export function usesToStore(
  { allowances }: SubWalletState,
  chainId: number,
  uses: readonly CreditAmount[],
): readonly CreditUse[] {
  return uses.flatMap(({ token, spender, kind, amount }) => {
    const key = keyOf(chainId, token, spender, kind)
    const entry = allowances.get(key)
    return entry === undefined ? [] : [{ key, approvedBy: entry.txId, amount }]
  })
}

/** The part of `Turn` that credits use. */
interface CreditTurn {
  readonly state: SubWalletState
  emit(event: CreditsChanged): void
}

/** Uses the credits in the turn that stores the transaction. */
export function useCredits(turn: CreditTurn, { credits }: Transaction): void {
  if (credits !== undefined) changeLeft(turn, credits, (left, amount) => less(left, amount))
}

/**
 * Undoes the credits of a transaction that ended without effect: its allowances were never given,
 * so no lineage is known to have paid for what they replaced, and the credits that it used are
 * available again.
 */
export function undoCredits(turn: CreditTurn, tx: Transaction): void {
  const unpaid: AllowanceEntry[] = []
  for (const entry of turn.state.allowances.values()) {
    if (entry.txId === tx.txId) unpaid.push({ ...entry, paid: null })
  }
  if (unpaid.length > 0) turn.emit({ type: 'credits-changed', entries: unpaid })
  if (tx.credits !== undefined) changeLeft(turn, tx.credits, (left, amount) => left + amount)
}

function changeLeft(
  turn: CreditTurn,
  uses: readonly CreditUse[],
  change: (left: bigint, amount: bigint) => bigint,
): void {
  const entries: AllowanceEntry[] = []
  for (const { key, approvedBy, amount } of uses) {
    const entry = turn.state.allowances.get(key)
    const paid = entry?.paid ?? null
    // A newer allowance has replaced this one, and the credit ended with the old one.
    if (entry === undefined || paid === null || entry.txId !== approvedBy) continue
    entries.push({ ...entry, paid: { ...paid, left: change(paid.left, amount) } })
  }
  if (entries.length > 0) turn.emit({ type: 'credits-changed', entries })
}

function less(left: bigint, amount: bigint): bigint {
  return left > amount ? left - amount : 0n
}
