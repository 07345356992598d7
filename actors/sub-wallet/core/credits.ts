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
 * What an approval has counted is a credit of the lineage that it counted against: what the spender
 * takes by it later on that day counts nothing more. A credit belongs to one lineage, chain, token
 * and spender; it comes into force with its approval, ends with its day, with another approval in
 * its place and with the failure of its own, and is used in the step that reserves what it spares.
 *
 * Spec silent: it is bounded by what the chain says the spender may still take, so that taking an
 * approval back ends it, and what was spent by then stays spent.
 */

/**
 * @param day the UTC day of the counters that are spent from
 * @param after calls under way after which the allowances were read: what these take is taken
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
  /** By calls that are not stored: the ledger does not know of it yet. */
  drafted: bigint
  /** By all that the allowances were read without. */
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

/** What a transaction keeps of the credits it uses; those that ended meanwhile are left out. */
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

/** Of a command's turn. */
interface CreditTurn {
  readonly state: SubWalletState
  emit(event: CreditsChanged): void
}

/** In the turn that stores the transaction. */
export function useCredits(turn: CreditTurn, { credits }: Transaction): void {
  if (credits !== undefined) changeLeft(turn, credits, (left, amount) => less(left, amount))
}

/**
 * A transaction ended without effect: its approvals were never made, so nobody paid for what they
 * replaced either, as far as is known here; and what it had used of credits is there again.
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
    // Another approval has taken its place: the credit ended with the one that was used.
    if (entry === undefined || paid === null || entry.txId !== approvedBy) continue
    entries.push({ ...entry, paid: { ...paid, left: change(paid.left, amount) } })
  }
  if (entries.length > 0) turn.emit({ type: 'credits-changed', entries })
}

function less(left: bigint, amount: bigint): bigint {
  return left > amount ? left - amount : 0n
}
