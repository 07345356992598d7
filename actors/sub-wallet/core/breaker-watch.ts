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
import { payeesOf } from '../../../src/policy/payees.js'
import { ancestorsOf } from './key-tree.js'
import type { Effect, Event, RefusedCall } from './messages.js'
import type { SubWalletState } from './state.js'

/**
 * Feeds the breakers of a key and of the keys above it with the calls decided here. A sub-key's
 * calls count for its makers too, so that making keys evades no breaker. Counts of signed calls are
 * stored with those calls. Refusals are counted only in memory, so that a flood of them costs no
 * writes: a restart forgets them, nothing was signed for them, and a continuing flood trips the
 * breaker again.
 *
 * The trip is emitted before the turn's commit, so that the freeze is part of the same commit. The
 * call that trips a breaker is signed; no later call is.
 */

/** The part of `Turn` that the breakers use. */
interface Deciding {
  readonly state: SubWalletState
  emit(event: Event): void
  effect(effect: Effect): void
}

/** @param call the refused call, after `turn` has answered its caller */
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

/** @param newPayees see `newPayeesOf`; computed before the call was folded */
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
 * Beneficiaries that the wallet has not paid before; empty when no breaker counts them. When the
 * list of those the wallet paid is unknown, because a call ended since the store was read, every
 * beneficiary counts as new: a breaker would otherwise never count the call. Calls that people
 * approved are skipped, because the approvers saw whom they pay.
 */
export function newPayeesOf(
  state: SubWalletState,
  tx: Pick<Transaction, 'keyId' | 'lineageId' | 'kind' | 'call' | 'shownPayees' | 'approval'>,
): readonly Address[] {
  const { keys, payees, userWatch } = state
  if (payees === null && tx.approval !== undefined) return NONE
  const key = keys.get(tx.keyId)
  const isAsked =
    userWatch?.payees === true ||
    (key !== undefined && countsPayees(key)) ||
    ancestorsOf(state, tx.lineageId).some(countsPayees)
  if (!isAsked) return NONE
  return payeesOf(tx).filter((one) => payees?.has(one) !== true)
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
