import type { Address, LineageId, TxId } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import { showCall } from '../../../src/policy/call-shown.js'
import type { UnitsTaken } from '../../../src/policy/ceilings.js'
import { compiledOf } from '../../../src/policy/compiled-policies.js'
import type { Policy } from '../../../src/policy/policy.js'
import {
  addToLedger,
  type CountedCall,
  NO_POLICY_LEDGER,
  type PolicyLedger,
  returnUnits,
  takeUnits,
} from '../../../src/policy/policy-ledger.js'
import { ancestorsOf, countsOn } from './key-tree.js'
import type { SubWalletState } from './state.js'

/**
 * What policies count of a sub-wallet's calls, folded in place. What is stored counts in its
 * lineage's ledger; what waits for its signature counts as a draft, which a crash forgets.
 */

/** So many payees of a wallet are remembered; one that gives way is new once more. */
const PAYEES_MAX = 10_000

type Of = Pick<Transaction, 'lineageId' | 'keyId'>

/** A draft's count becomes durable with its signed bytes. */
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
  // What a policy elsewhere on the path counts is not its own.
  const taken = counted.taken.filter(({ chainId, token }) =>
    ceilings.some((one) => one.chainId === chainId && one.token === token),
  )
  const before = state.policyLedgers.get(lineageId) ?? NO_POLICY_LEDGER
  putLedger(state, lineageId, addToLedger(before, { ...counted, taken }, windows, ceilings))
}

/** When policies counted it; what waited was counted when it was let through. */
export function countedAtMs({ approval, createdAtMs, attempts }: Transaction): number {
  return approval === undefined ? createdAtMs : (attempts[0]?.signedAtMs ?? createdAtMs)
}

/** Of a call that ended and moved nothing. @param atMs when it was counted */
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

/** Of one that was given up and may move them after all. */
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
    // Of those above, what counts nothing has nothing to count again.
    if (before === undefined && at !== lineageId) continue
    putLedger(state, at, takeUnits(before ?? NO_POLICY_LEDGER, atMs, taken))
  }
}

/** What counts and is not stored yet. */
export function draftedCalls(state: SubWalletState, lineageId: LineageId): CountedCall[] {
  const found: CountedCall[] = []
  for (const { draft } of state.drafts.values()) {
    const { counted, signs } = draft
    if (counted === undefined || signs !== 'first-time') continue
    if (!countsOn(state, draft.lineageId, lineageId)) continue
    found.push(counted)
  }
  for (const { approval, phase } of state.waiting.byTx.values()) {
    // What is judged anew counts as its draft.
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
  /** By lower-case address, how often. */
  readonly times: ReadonlyMap<Address, number>
  /** Transactions that were open then, or waited for approval, and are not in `times`. */
  readonly openAtRead: readonly TxId[]
}

/**
 * @returns false when one of those has ended since: whether it paid is not known, and the
 * next call reads anew
 */
export function areStillKnown(
  { open, waiting }: SubWalletState,
  { openAtRead }: KnownPayees,
): boolean {
  return openAtRead.every((txId) => open.has(txId) || waiting.byTx.has(txId))
}

/** Nothing, as long as no policy of the wallet asks who was paid. */
export function notePaid({ payees }: SubWalletState, tx: Transaction): void {
  if (payees === null) return
  for (const address of payeesOf(tx)) payees.set(address, (payees.get(address) ?? 0) + 1)
  trim(payees)
}

/** It paid nobody in the end. */
export function noteUnpaid({ payees }: SubWalletState, tx: Transaction): void {
  if (payees === null) return
  for (const address of payeesOf(tx)) {
    const times = payees.get(address) ?? 0
    if (times > 1) payees.set(address, times - 1)
    else payees.delete(address)
  }
}

/** Lower-case; of calls that do not say whom they pay, nobody. */
export function payeesOf({ kind, call }: Pick<Transaction, 'kind' | 'call'>): readonly Address[] {
  return kind === 'send' ? (showCall({ operation: kind, ...call }).beneficiaries ?? []) : []
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

/** The first change since it was written tells what the store has of it. */
function noteChange({ changedLedgers, policyLedgers }: SubWalletState, lineageId: LineageId): void {
  if (changedLedgers.has(lineageId)) return
  changedLedgers.set(lineageId, policyLedgers.get(lineageId) ?? NO_POLICY_LEDGER)
}
