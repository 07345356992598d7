import type { Address } from '../domain/ids.js'
import type { CallShown } from './call-shown.js'
import type { Hours } from './policy.js'

/**
 * What a condition can come to, as bits: a judge that sees all has one of them, one that leaves
 * something to the other domain has all that are possible.
 */
export type Truth = number
export const HOLDS = 1
export const FAILS = 2
export const UNJUDGEABLE = 4
export const OPEN = HOLDS | FAILS | UNJUDGEABLE

/** A judge's answer to what only the other one knows. */
export const ELSEWHERE = 'elsewhere'

/** What a judge knows of a call beyond its bytes; null is what cannot be known. */
export interface Facts {
  readonly nowMs: number
  /** As it counts against the caps, gas included. */
  readonly spendMicros: bigint | null | typeof ELSEWHERE
  /** Whether the wallet has paid this address before. */
  readonly hasPaid: ((address: Address) => boolean) | null | typeof ELSEWHERE
  /** What went before this call within so many seconds. */
  readonly within: (perSeconds: number) => Counted | null
  /** Whether sums in USD are known in `within`. */
  readonly countsUsd: boolean
}

export interface Counted {
  readonly count: number
  readonly micros: bigint
}

/** A compiled condition, and the words for it. */
export interface Condition {
  readonly field: string
  test(call: CallShown, facts: Facts): Truth
  /** For people and programs, in the wire's terms. */
  observed(call: CallShown, facts: Facts): string
  /** Why it holds, and why it fails; for a bound both are the bound. */
  readonly heldBy: string
  readonly failedBy: string
  readonly heals: Heals | null
}

/** How time changes what a condition comes to. */
export type Heals =
  | { readonly hours: readonly Hours[] }
  /** Once no more than this went before, within so many seconds. */
  | { readonly perSeconds: number; readonly countMax: number }
  | { readonly perSeconds: number; readonly microsMax: bigint }

export const CANNOT_BE_JUDGED = 'cannot be judged'

/** All of them. */
export function testAll(conditions: readonly Condition[], call: CallShown, facts: Facts): Truth {
  let all = HOLDS
  for (const condition of conditions) {
    all = both(all, condition.test(call, facts))
    if (all === FAILS) return FAILS
  }
  return all
}

/** What a conjunction of two can come to: one that fails decides it, else one that is unknown. */
export function both(one: Truth, other: Truth): Truth {
  if (one === HOLDS) return other
  const holds = one & other & HOLDS
  const fails = (one | other) & FAILS
  const isUnknown =
    ((one & UNJUDGEABLE) !== 0 && (other & (HOLDS | UNJUDGEABLE)) !== 0) ||
    ((other & UNJUDGEABLE) !== 0 && (one & (HOLDS | UNJUDGEABLE)) !== 0)
  return holds | fails | (isUnknown ? UNJUDGEABLE : 0)
}

export function opposite(truth: Truth): Truth {
  return (
    (truth & UNJUDGEABLE) |
    ((truth & HOLDS) === 0 ? 0 : FAILS) |
    ((truth & FAILS) === 0 ? 0 : HOLDS)
  )
}

export function truth(holds: boolean): Truth {
  return holds ? HOLDS : FAILS
}

/** Of a bound: kept or broken, the same words name it. */
export function numeric(bound: string): Pick<Condition, 'heldBy' | 'failedBy'> {
  return { heldBy: bound, failedBy: bound }
}

export function values(text: string): Pick<Condition, 'heldBy' | 'failedBy'> {
  return { heldBy: text, failedBy: `not: ${text}` }
}

/** So many are named in a refusal; the policy itself is there for the rest. */
const LISTED_MAX = 8

export function listText(values: readonly (string | number | boolean)[]): string {
  const more = values.length - LISTED_MAX
  const named = values.slice(0, LISTED_MAX).join(', ')
  return more > 0 ? `${named} and ${more} more` : named
}
