import { MAX_SWAP_LOSS_BPS_DEFAULT } from '../domain/exchange.js'
import type { UsdMicros } from '../domain/money.js'
import type { Token } from './call-terms.js'
import { CONDITION_FIELDS, CONDITIONS, type Conditions, conditionsIn } from './conditions/index.js'

/**
 * What a key may do with single calls, as its owner wrote it: conditions over what a call shows,
 * the effect when they hold, and how many units may leave per day or month. The owner's approver
 * device signs its canonical text, so both domains read exactly the same policy.
 */
export interface Policy {
  /** Micro-USD; null sets no bound beyond the caps. */
  readonly perTransactionMicros: UsdMicros | null
  /**
   * The share of its value that a sponsored call may lose, basis points, 0 to 10,000; null for
   * unbounded. Absent means `MAX_SWAP_LOSS_BPS_DEFAULT`, so that policies signed before the field
   * keep their bytes.
   */
  readonly maxSwapLossBps?: number | null
  readonly rules: readonly Rule[]
  /** The effect when no rule matches. `default` on the wire. */
  readonly fallback: PolicyEffect
  readonly ceilings: readonly Ceiling[]
  readonly breakers: readonly Breaker[]
}

export type PolicyEffect = 'allow' | 'require_approval' | 'deny'
/** In ascending order of what they let pass. */
export const EFFECTS = ['deny', 'require_approval', 'allow'] as const satisfies PolicyEffect[]

export interface Rule {
  readonly name: string
  readonly effect: PolicyEffect
  readonly when: When
  /** The people who must approve; null for rules that require no approval. */
  readonly approvals: Approvals | null
  /** The delay before the call may be sent, seconds; 0 for rules that deny. */
  readonly delaySeconds: number
}

export interface Approvals {
  readonly needed: number
  readonly expiresSeconds: number
}

/**
 * All present conditions must hold; absent ones test nothing. Lists are sorted, without
 * repetitions.
 */
export interface When extends Conditions {
  /** May not contain another `not`. */
  readonly not?: When
}

/** The most units that may leave in a UTC day or calendar month. */
export interface Ceiling {
  readonly chainId: number
  readonly token: Token
  readonly per: 'day' | 'month'
  /** In smallest units. */
  readonly amount: bigint
}

export interface Breaker {
  readonly kind: 'refusals' | 'new_beneficiaries' | 'spend_factor'
  /** Set for `refusals` and `new_beneficiaries`. */
  readonly count: number | null
  /** Set for `spend_factor`. */
  readonly factor: number | null
  readonly perSeconds: number
}

/** Names that refusals use for parts of a policy that are not rules. */
export const RESERVED_RULE_NAMES = ['default', 'per_transaction_usd', 'ceilings'] as const

/**
 * The loss bound of a key with this policy, or without one.
 * @returns basis points; null when unbounded
 */
export function maxSwapLossBpsOf(policy: Policy | null): number | null {
  const bound = policy?.maxSwapLossBps
  return bound === undefined ? MAX_SWAP_LOSS_BPS_DEFAULT : bound
}

/** Every `when` of a policy, including nested ones. */
export function* conditionsOf({ rules }: Policy): Generator<When> {
  for (const { when } of rules) {
    yield when
    if (when.not !== undefined) yield when.not
  }
}

const COUNTING = CONDITION_FIELDS.filter((field) => CONDITIONS[field].window !== undefined)
const READING_PAYEES = CONDITION_FIELDS.filter((field) => CONDITIONS[field].readsPayees === true)

/** The sliding windows that it counts in, seconds, ascending. */
export function windowsOf(policy: Policy): number[] {
  const found = new Set<number>()
  for (const when of conditionsOf(policy)) {
    for (const { row, value } of conditionsIn(when, COUNTING)) {
      const window = row.window?.(value)
      if (window !== undefined) found.add(window)
    }
  }
  return [...found].sort((a, b) => a - b)
}

export function asksForNewBeneficiaries(policy: Policy): boolean {
  if (policy.breakers.some(({ kind }) => kind === 'new_beneficiaries')) return true
  return [...conditionsOf(policy)].some((when) => conditionsIn(when, READING_PAYEES).length > 0)
}
