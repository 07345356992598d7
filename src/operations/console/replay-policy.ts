import { intentTermsOf } from '../../contracts/router-intent.js'
import type { Address, TxId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import type { Transaction } from '../../domain/transaction.js'
import { type CallShown, showCall, showIntent } from '../../policy/call-shown.js'
import { ceilingBreach, unitsTaken } from '../../policy/ceilings.js'
import type { Facts } from '../../policy/condition.js'
import { type CompiledPolicy, compilePolicy, explain, judge } from '../../policy/judge-policy.js'
import { payeesOf } from '../../policy/payees.js'
import type { Policy, PolicyEffect } from '../../policy/policy.js'
import {
  addToLedger,
  countedWithin,
  NO_POLICY_LEDGER,
  type PolicyLedger,
  unitsUsed,
} from '../../policy/policy-ledger.js'

/** A past send that the policy would have refused. */
export interface PolicyRefusal {
  readonly txId: TxId
  readonly createdAtMs: number
  readonly effect: Exclude<PolicyEffect, 'allow'>
  readonly rule: string
  readonly field: string
  readonly observed: string
  readonly permitted: string
}

/**
 * Judges a lineage's past sends by a policy, one by one, in the order in which they were made. A
 * refused send counts nothing and pays no beneficiary. One that moved nothing pays no beneficiary
 * either and takes no units; it counts only in sliding windows.
 */
export class PolicyReplay {
  readonly #compiled: CompiledPolicy
  readonly #paid = new Set<Address>()
  #ledger: PolicyLedger = NO_POLICY_LEDGER

  constructor(policy: Policy) {
    this.#compiled = compilePolicy(policy)
  }

  /** Records a send of another lineage of the wallet, whose beneficiaries are then not new. */
  note(tx: Transaction): void {
    if (!hasMoved(tx)) return
    for (const address of payeesOf(tx)) this.#paid.add(address)
  }

  judge(tx: Transaction): PolicyRefusal | null {
    const { policy, windows } = this.#compiled
    const { createdAtMs: nowMs, reservation } = tx
    const call = shownOf(tx)
    const facts: Facts = {
      nowMs,
      spendMicros: reservation.micros,
      hasPaid: (address) => this.#paid.has(address),
      within: (perSeconds) => countedWithin(this.#ledger, perSeconds, nowMs),
      countsUsd: true,
    }
    const verdict = judge(this.#compiled, call, facts)
    if (verdict.effect !== 'allow') {
      const { rule, field, observed, permitted } = explain(this.#compiled, verdict, call, facts)
      return { ...of(tx), effect: verdict.effect, rule, field, observed, permitted }
    }
    const taken = unitsTaken(policy, call)
    const breach =
      taken === null
        ? null
        : ceilingBreach(policy, taken, (one) => unitsUsed(this.#ledger, one, nowMs))
    if (taken === null || breach !== null) {
      const observed = breach === null ? 'cannot be judged' : `${breach.used + breach.requested}`
      const permitted = breach === null ? 'what shows its amounts' : `${breach.ceiling.amount}`
      const why = { rule: 'ceilings', field: 'ceilings', observed, permitted }
      return { ...of(tx), effect: 'deny', ...why }
    }
    const counted = { atMs: nowMs, micros: reservation.micros, taken: hasMoved(tx) ? taken : [] }
    this.#ledger = addToLedger(this.#ledger, counted, windows, policy.ceilings)
    this.note(tx)
    return null
  }
}

export function policyRefusalView(refusal: PolicyRefusal) {
  const { txId, createdAtMs, effect, rule, field, observed, permitted } = refusal
  return {
    ...{ tx_id: txId, created_at: isoTime(createdAtMs) },
    ...{ effect, rule, field, observed, permitted },
  }
}

function of({ txId, createdAtMs }: Transaction) {
  return { txId, createdAtMs }
}

function shownOf({ kind, call }: Transaction): CallShown {
  if (kind === 'send') return showCall({ operation: kind, ...call })
  return showIntent(kind, call.chainId, intentTermsOf(call.data))
}

function hasMoved({ status }: Transaction): boolean {
  return status !== 'failed' && status !== 'dropped'
}
