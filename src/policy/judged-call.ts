import type { Address } from '../domain/ids.js'
import { type ApprovalAsked, approvalAsked } from './approval-asked.js'
import type { CallShown } from './call-shown.js'
import { ceilingBreach, unitsTaken } from './ceilings.js'
import type { Facts } from './condition.js'
import { compilePolicy, judge } from './judge-policy.js'
import type { Ceiling, Policy, PolicyEffect } from './policy.js'

/** A call that two policies judge differently, and what must have gone before it. */
export interface Example {
  readonly call: CallShown
  readonly circumstances: Circumstances
  readonly before: Judgement
  readonly next: Judgement
}

/** What judges know beyond the call. */
export interface Circumstances {
  /** Of a week that begins on a Monday. */
  readonly nowMs: number
  readonly spendMicros: bigint | null
  /** Lower-case: whom the wallet has paid, of those that the call pays. */
  readonly paid: readonly Address[]
  /** By sliding time, seconds. */
  readonly counted: ReadonlyMap<number, { readonly count: number; readonly micros: bigint }>
  /** By `usedName`: units that went of a ceiling. */
  readonly used: ReadonlyMap<string, bigint>
}

export interface Judgement {
  readonly effect: PolicyEffect
  /** The rule, or `default`, `per_transaction_usd`, `ceilings`. */
  readonly by: string
  /** What it waits for; null: nothing. */
  readonly asks: ApprovalAsked | null
}

export type Judge = (call: CallShown, circumstances: Circumstances) => Judgement

export type CeilingKey = Pick<Ceiling, 'chainId' | 'token' | 'per'>

/** 5 January 2026, a Monday: `Circumstances` are of its week. */
export const MONDAY_MS = Date.UTC(2026, 0, 5)
export const MINUTE_MS = 60_000

const NO_POLICY: Judgement = { effect: 'allow', by: 'default', asks: null }
const OVER_A_CEILING: Judgement = { effect: 'deny', by: 'ceilings', asks: null }
const NOTHING = { count: 0, micros: 0n }

/** What the service makes of a call in such circumstances. @param policy null is none */
export function judgeOf(policy: Policy | null): Judge {
  if (policy === null) return () => NO_POLICY
  const compiled = compilePolicy(policy)
  return (call, { nowMs, spendMicros, paid, counted, used }) => {
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
    }
    const asks = effect === 'require_approval' ? approvalAsked(compiled, call, facts) : null
    return { effect, by: rule?.rule.name ?? by, asks }
  }
}

/** How easily a verdict lets through. */
export const PASSAGE = { deny: 0, require_approval: 1, allow: 2 } as const

/** Whether a judgement lets through more easily. */
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
