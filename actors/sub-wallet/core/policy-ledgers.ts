import type { Address, LineageId, TxId } from '../../../src/domain/ids.js'
import { utcDay, utcMonth } from '../../../src/domain/spend.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { UnitsTaken } from '../../../src/policy/ceilings.js'
import { compiledOf } from '../../../src/policy/compiled-policies.js'
import { payeesOf } from '../../../src/policy/payees.js'
import type { Ceiling, Policy } from '../../../src/policy/policy.js'
import {
  addToLedger,
  type CountedCall,
  NO_POLICY_LEDGER,
  type PolicyLedger,
  returnUnits,
  takeUnits,
  unitsUsed,
} from '../../../src/policy/policy-ledger.js'
import { ancestorsOf, countsOn } from './key-tree.js'
import type { SubWalletState } from './state.js'

/**
 * Folds, in place, what policies count of a sub-wallet's calls. Stored calls count in the ledger of
 * their lineage; a call that waits for its signature counts as a draft, which a crash forgets.
 */

/** The most beneficiaries of a wallet that are remembered; a forgotten one counts as new again. */
const PAYEES_MAX = 10_000

type Of = Pick<Transaction, 'lineageId' | 'keyId'>

/** Makes the count of a draft durable together with its signed bytes. */
export function bookCall(
  state: SubWalletState,
  { lineageId, keyId }: Of,
  counted: CountedCall | undefined,
): void {
  if (counted === undefined) return
  countFor(state, lineageId, state.keys.get(keyId)?.policy ?? null, counted)
  for (const above of ancestorsOf(state, lineageId)) {
    countFor(state, above.lineageId, above.policy, counted)
  }
}

function countFor(
  state: SubWalletState,
  lineageId: LineageId,
  policy: Policy | null,
  counted: CountedCall,
): void {
  if (policy === null) return
  const { windows } = compiledOf(policy)
  const { ceilings } = policy
  if (windows.length === 0 && ceilings.length === 0) return
  // Takes only the units that this lineage's own policy counts.
  const taken = counted.taken.filter(({ chainId, token }) =>
    ceilings.some((one) => one.chainId === chainId && one.token === token),
  )
  const before = state.policyLedgers.get(lineageId) ?? NO_POLICY_LEDGER
  putLedger(state, lineageId, addToLedger(before, { ...counted, taken }, windows, ceilings))
}

/** The time at which policies counted the call; a call that waited counts when it is signed. */
export function countedAtMs({ approval, createdAtMs, attempts }: Transaction): number {
  return approval === undefined ? createdAtMs : (attempts[0]?.signedAtMs ?? createdAtMs)
}

/**
 * Gives back the units of a call that ended and moved nothing.
 * @param atMs when it was counted
 */
export function giveUnitsBack(
  state: SubWalletState,
  lineageId: LineageId,
  atMs: number,
  taken: readonly UnitsTaken[] | undefined,
): void {
  if (taken === undefined) return
  const { parents, policyLedgers } = state
  for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
    const before = policyLedgers.get(at)
    if (before !== undefined) putLedger(state, at, returnUnits(before, atMs, taken))
  }
}

/** Counts again the units of a call that was given up and may move them after all. */
export function takeUnitsAgain(
  state: SubWalletState,
  lineageId: LineageId,
  atMs: number,
  taken: readonly UnitsTaken[] | undefined,
): void {
  if (taken === undefined) return
  const { parents, policyLedgers } = state
  for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
    const before = policyLedgers.get(at)
    // A lineage above without a ledger counts nothing and has nothing to count again.
    if (before === undefined && at !== lineageId) continue
    putLedger(state, at, takeUnits(before ?? NO_POLICY_LEDGER, atMs, taken))
  }
}

/** The counted calls that are not stored yet. */
export function draftedCalls(state: SubWalletState, lineageId: LineageId): CountedCall[] {
  const found: CountedCall[] = []
  for (const { draft } of state.drafts.values()) {
    const { counted, signs } = draft
    if (counted === undefined || signs !== 'first-time') continue
    if (!countsOn(state, draft.lineageId, lineageId)) continue
    found.push(counted)
  }
  for (const { approval, phase } of state.waiting.byTx.values()) {
    // A call that is being judged again counts as its draft.
    if (phase === 'running' || approval.counted === null) continue
    if (countsOn(state, approval.lineageId, lineageId)) found.push(approval.counted)
  }
  for (const { draft } of state.sponsored.values()) {
    if (draft?.counted === undefined) continue
    if (countsOn(state, draft.lineageId, lineageId)) found.push(draft.counted)
  }
  return found
}

/** Whom a wallet had paid when the store was read. */
export interface KnownPayees {
  /** The number of payments by lower-case address. */
  readonly times: ReadonlyMap<Address, number>
  /**
   * Transactions that were open or waited for approval at that time; `times` does not include them.
   */
  readonly openAtRead: readonly TxId[]
}

/**
 * @returns false when one of those has ended since: whether it paid is unknown, and the next call
 * reads the store again
 */
export function areStillKnown(
  { open, waiting }: SubWalletState,
  { openAtRead }: KnownPayees,
): boolean {
  return openAtRead.every((txId) => open.has(txId) || waiting.byTx.has(txId))
}

/** Does nothing until a policy of the wallet needs to know who was paid. */
export function notePaid({ payees }: SubWalletState, tx: Transaction): void {
  if (payees === null) return
  for (const address of payeesOf(tx)) payees.set(address, (payees.get(address) ?? 0) + 1)
  trim(payees)
}

/** Takes back the count of a call that paid no one in the end. */
export function noteUnpaid({ payees }: SubWalletState, tx: Transaction): void {
  if (payees === null) return
  for (const address of payeesOf(tx)) {
    const times = payees.get(address) ?? 0
    if (times > 1) payees.set(address, times - 1)
    else payees.delete(address)
  }
}

function trim(payees: Map<Address, number>): void {
  for (const address of payees.keys()) {
    if (payees.size <= PAYEES_MAX) return
    payees.delete(address)
  }
}

export function putLedger(state: SubWalletState, lineageId: LineageId, ledger: PolicyLedger): void {
  noteChange(state, lineageId)
  state.policyLedgers.set(lineageId, ledger)
}

export function removeLedger(state: SubWalletState, lineageId: LineageId): void {
  if (!state.policyLedgers.has(lineageId)) return
  noteChange(state, lineageId)
  state.policyLedgers.delete(lineageId)
}

/** The first change since the last write keeps the form that the store has. */
function noteChange({ changedLedgers, policyLedgers }: SubWalletState, lineageId: LineageId): void {
  if (changedLedgers.has(lineageId)) return
  changedLedgers.set(lineageId, policyLedgers.get(lineageId) ?? NO_POLICY_LEDGER)
}

/** The used part of a ceiling, calls under way included. */
export function ceilingUsed(
  state: SubWalletState,
  lineageId: LineageId,
  ceiling: Ceiling,
  nowMs: number,
): bigint {
  const ledger = state.policyLedgers.get(lineageId) ?? NO_POLICY_LEDGER
  return usedOf(ceiling, unitsUsed(ledger, ceiling, nowMs), draftedCalls(state, lineageId), nowMs)
}

/** @param stored the used part according to the ledger */
export function usedOf(
  ceiling: Ceiling,
  stored: bigint,
  drafted: readonly CountedCall[],
  nowMs: number,
): bigint {
  const { chainId, token, per } = ceiling
  const isOpen = (atMs: number) =>
    per === 'day' ? utcDay(atMs) >= utcDay(nowMs) : utcMonth(atMs) >= utcMonth(nowMs)
  const isOf = (one: UnitsTaken) => one.chainId === chainId && one.token === token
  let used = stored
  for (const { atMs, taken } of drafted) {
    if (isOpen(atMs)) used += taken.find(isOf)?.amount ?? 0n
  }
  return used
}
