import type { ApiKey } from '../../../src/domain/api-key.js'
import type { Address } from '../../../src/domain/ids.js'
import type { Transaction } from '../../../src/domain/transaction.js'
import type { Fault } from '../../../src/errors/fault.js'
import {
  COUNTED_REFUSALS,
  NO_TALLY,
  type Watched,
  watch,
  watches,
} from '../../../src/policy/breakers.js'
import { ancestorsOf } from './key-tree.js'
import type { Effect, Event, RefusedCall } from './messages.js'
import { payeesOf } from './policy-ledgers.js'
import type { SubWalletState } from './state.js'

/**
 * The breakers of a key, and of those above it that made it, fed by what is decided here: what a
 * sub-key does its makers do, so that nobody passes a breaker by making keys. What they count of signed calls is stored
 * with those calls. Refusals are counted in memory alone, so that a flood of them costs no write: a
 * restart forgets them, nothing of them had left, and a flood that goes on trips anew.
 *
 * A trip is told before the commit that it rests on, so that the freeze is in the same one; the
 * call that trips is signed, and none after it.
 */

/** What of a turn they need. */
interface Deciding {
  readonly state: SubWalletState
  emit(event: Event): void
  effect(effect: Effect): void
}

/** @param call as it was refused, after `turn` had told its caller */
export function noteRefused(turn: Deciding, fault: Fault, call: RefusedCall, nowMs: number): void {
  const key = turn.state.keys.get(call.keyId)
  if (key === undefined || !COUNTED_REFUSALS.has(fault.code)) return
  if (turn.state.userWatch?.refused === true) {
    const { userId, keyId } = key
    const seen = { type: 'refused', atMs: nowMs } as const
    turn.effect({ type: 'watched', userId, keyId, requestId: call.requestId, seen })
  }
  noteOnPath(turn, key, { type: 'refused', atMs: nowMs }, call.requestId)
}

/** @param newPayees see `newPayeesOf`; asked before the call was folded */
export function noteSigned(turn: Deciding, tx: Transaction, newPayees: readonly Address[]): void {
  const key = turn.state.keys.get(tx.keyId)
  if (key === undefined) return
  const { updatedAtMs: atMs, reservation, requestId, subWalletId, userId, keyId } = tx
  const { micros } = reservation
  if (turn.state.userWatch?.signed === true) {
    const seen = { type: 'signed', atMs, micros, subWalletId, newPayees } as const
    turn.effect({ type: 'watched', userId, keyId, requestId, seen })
  }
  const newBeneficiaries = newPayees.length
  noteOnPath(turn, key, { type: 'signed', atMs, micros, newBeneficiaries }, requestId)
}

/**
 * None where nobody asks. A send reads whom the wallet has paid; where the store is behind what has
 * ended here nobody knows, and each counts as new: of a call that is not counted no breaker would
 * hear again. What people approved reads nothing, and they saw whom it pays.
 */
export function newPayeesOf(
  state: SubWalletState,
  tx: Pick<Transaction, 'keyId' | 'lineageId' | 'kind' | 'call' | 'approval'>,
): readonly Address[] {
  const { keys, payees, userWatch } = state
  if (payees === null && tx.approval !== undefined) return NONE
  const key = keys.get(tx.keyId)
  const isAsked =
    userWatch?.payees === true ||
    (key !== undefined && countsPayees(key)) ||
    ancestorsOf(state, tx.lineageId).some(countsPayees)
  if (!isAsked) return NONE
  return [...new Set(payeesOf(tx).filter((address) => payees?.has(address) !== true))]
}

const NONE: readonly Address[] = []

function countsPayees({ policy }: ApiKey): boolean {
  return policy?.breakers.some(({ kind }) => kind === 'new_beneficiaries') === true
}

function noteOnPath(turn: Deciding, key: ApiKey, seen: Watched, requestId: string): void {
  note(turn, key, seen, requestId)
  for (const above of ancestorsOf(turn.state, key.lineageId)) note(turn, above, seen, requestId)
}

function note(turn: Deciding, key: ApiKey, seen: Watched, requestId: string): void {
  if (key.policy === null || key.policy.breakers.length === 0) return
  const breakers = key.policy.breakers.filter((one) => watches(one, seen.type))
  if (breakers.length === 0) return
  const { lineageId, keyId, subWalletId, userId } = key
  const { state } = turn
  const before =
    seen.type === 'refused'
      ? state.refusals.get(lineageId)
      : state.policyLedgers.get(lineageId)?.breakers
  const { tally, trip } = watch(breakers, before ?? NO_TALLY, seen)
  turn.emit({ type: 'breakers-counted', lineageId, of: seen.type, tally })
  if (trip === null) return
  turn.emit({ type: 'breaker-tripped', lineageId })
  turn.effect({
    ...{ type: 'trip', userId, subWalletId, lineageId, keyId, requestId },
    ...{ reason: trip.reason, nowMs: trip.atMs },
  })
}
