import type { Address } from '../domain/ids.js'
import type { CallShown } from './call-shown.js'
import type { Hours } from './utc-hours.js'

/**
 * The possible results of a condition, as bits: a judge that sees everything gets one of them, a
 * judge that leaves something to the other domain gets all that are possible.
 */
export type Truth = number
export const HOLDS = 1
export const FAILS = 2
export const UNJUDGEABLE = 4
export const OPEN = HOLDS | FAILS | UNJUDGEABLE

/** Stands for a fact that only the other judge knows. */
export const ELSEWHERE = 'elsewhere'

/**
 * What a judge knows about a call beyond its bytes; null stands for a fact that cannot be known.
 */
export interface Facts {
  readonly nowMs: number
  /** The micro-USD that count against the caps, gas included. */
  readonly spendMicros: bigint | null | typeof ELSEWHERE
  /** Whether the wallet has paid this address before. */
  readonly hasPaid: ((address: Address) => boolean) | null | typeof ELSEWHERE
  /** The counts before this call within this many seconds. */
  readonly within: (perSeconds: number) => Counted | null
  /** Whether sums in USD are known in `within`. */
  readonly countsUsd: boolean
}

export interface Counted {
  readonly count: number
  readonly micros: bigint
}

/** A compiled condition with its texts. */
export interface Condition {
  readonly field: string
  test(call: CallShown, facts: Facts): Truth
  /** Formats the observed value for people and programs, in the wire's terms. */
  observed(call: CallShown, facts: Facts): string
  /** The texts for holding and for failing; a bound has the same text for both. */
  readonly heldBy: string
  readonly failedBy: string
  readonly heals: Heals | null
}

/** How the result of a condition changes with time. */
export type Heals =
  | { readonly hours: readonly Hours[] }
  /** It changes once no more than this was counted within this many seconds. */
  | { readonly perSeconds: number; readonly countMax: number }
  | { readonly perSeconds: number; readonly microsMax: bigint }

export const CANNOT_BE_JUDGED = 'cannot be judged'

/** Tests a conjunction. */
export function testAll(conditions: readonly Condition[], call: CallShown, facts: Facts): Truth {
  let all = HOLDS
  for (const condition of conditions) {
    all = both(all, condition.test(call, facts))
    if (all === FAILS) return FAILS
  }
  return all
}

/** The possible results of a conjunction of two: a failing one decides it, else an unknown one. */
function both(one: Truth, other: Truth): Truth {
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

/** The texts of a bound: kept or broken, it is named the same. */
export function numeric(bound: string): Pick<Condition, 'heldBy' | 'failedBy'> {
  return { heldBy: bound, failedBy: bound }
}

export function values(text: string): Pick<Condition, 'heldBy' | 'failedBy'> {
  return { heldBy: text, failedBy: `not: ${text}` }
}

/** The most values that a refusal lists; the policy itself has the others. */
const LISTED_MAX = 8

export function listText(values: readonly (string | number | boolean)[]): string {
  const more = values.length - LISTED_MAX
  const named = values.slice(0, LISTED_MAX).join(', ')
  return more > 0 ? `${named} and ${more} more` : named
}
