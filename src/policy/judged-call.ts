import type { Address } from '../domain/ids.js'
import { type ApprovalAsked, approvalAsked } from './approval-asked.js'
import type { CallShown } from './call-shown.js'
import { ceilingBreach, unitsTaken } from './ceilings.js'
import type { Facts } from './condition.js'
import { compilePolicy, judge } from './judge-policy.js'
import { type Ceiling, maxSwapLossBpsOf, type Policy, type PolicyEffect } from './policy.js'

/** A call that two policies judge differently, with its circumstances. */
export interface Example {
  readonly call: CallShown
  readonly circumstances: Circumstances
  readonly before: Judgement
  readonly next: Judgement
}

/** The facts that judges know beyond the call. */
export interface Circumstances {
  /** A time in a week that starts on a Monday. */
  readonly nowMs: number
  readonly spendMicros: bigint | null
  /** The call's beneficiaries that the wallet has paid before, lower-case. */
  readonly paid: readonly Address[]
  /** The counts by the length of the sliding window, seconds. */
  readonly counted: ReadonlyMap<number, { readonly count: number; readonly micros: bigint }>
  /** The loss of a sponsored call, basis points. */
  readonly lossBps: number
  /** The used units of each ceiling, by `usedName`. */
  readonly used: ReadonlyMap<string, bigint>
}

export interface Judgement {
  readonly effect: PolicyEffect
  /** The rule, or `default`, `per_transaction_usd`, `ceilings`, `max_swap_loss_bps`. */
  readonly by: string
  /** The approval or delay that the call needs; null for none. */
  readonly asks: ApprovalAsked | null
}

export type Judge = (call: CallShown, circumstances: Circumstances) => Judgement

export type CeilingKey = Pick<Ceiling, 'chainId' | 'token' | 'per'>

/** 5 January 2026, a Monday: `Circumstances` lie in its week. */
export const MONDAY_MS = Date.UTC(2026, 0, 5)
export const MINUTE_MS = 60_000

const NO_POLICY: Judgement = { effect: 'allow', by: 'default', asks: null }
const OVER_A_CEILING: Judgement = { effect: 'deny', by: 'ceilings', asks: null }
const OVER_A_LOSS: Judgement = { effect: 'deny', by: 'max_swap_loss_bps', asks: null }
const NOTHING = { count: 0, micros: 0n }

/**
 * Judges a call in such circumstances as the service would.
 * @param policy null for no policy
 */
export function judgeOf(policy: Policy | null): Judge {
  const bound = maxSwapLossBpsOf(policy)
  const losesTooMuch = ({ operation }: CallShown, lossBps: number) =>
    bound !== null && operation !== 'send' && lossBps > bound
  if (policy === null) {
    return (call, { lossBps }) => (losesTooMuch(call, lossBps) ? OVER_A_LOSS : NO_POLICY)
  }
  const compiled = compilePolicy(policy)
  return (call, { nowMs, spendMicros, paid, counted, lossBps, used }) => {
    const facts: Facts = {
      ...{ nowMs, spendMicros, countsUsd: true },
      hasPaid: (address) => paid.includes(address),
      within: (perSeconds) => counted.get(perSeconds) ?? NOTHING,
    }
    const { effect, rule, by } = judge(compiled, call, facts)
    if (effect !== 'deny') {
      const taken = unitsTaken(policy, call)
      const usedOf = (ceiling: Ceiling) => used.get(usedName(ceiling)) ?? 0n
      if (taken === null || ceilingBreach(policy, taken, usedOf) !== null) return OVER_A_CEILING
      if (losesTooMuch(call, lossBps)) return OVER_A_LOSS
    }
    const asks = effect === 'require_approval' ? approvalAsked(compiled, call, facts) : null
    return { effect, by: rule?.rule.name ?? by, asks }
  }
}

/** How easily an effect lets a call pass. */
export const PASSAGE = { deny: 0, require_approval: 1, allow: 2 } as const

/** Whether a judgement lets the call pass more easily. */
export function isFreer(before: Judgement, next: Judgement): boolean {
  if (PASSAGE[next.effect] !== PASSAGE[before.effect]) {
    return PASSAGE[next.effect] > PASSAGE[before.effect]
  }
  if (before.asks === null || next.asks === null) return false
  const { needed, delaySeconds } = next.asks
  return needed < before.asks.needed || delaySeconds < before.asks.delaySeconds
}

export function usedName({ chainId, token, per }: CeilingKey): string {
  return `used_${chainId}_${token}_${per}`
}
