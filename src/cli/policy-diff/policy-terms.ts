import { maxSwapLossBpsOf, type Policy, type Rule } from '../../policy/policy.js'
import type { CallShape } from './call-shape.js'
import {
  and,
  below,
  FALSE,
  greatestOf,
  int,
  ite,
  type Named,
  not,
  or,
  type Term,
  TRUE,
} from './smt.js'
import { ceilingsTerm, IS_UNPRICED, LOSS, SPEND, whenTruth } from './when-terms.js'

/**
 * A policy's verdict on the calls of one shape, as terms. It equals `judge` and `approvalAsked`.
 */
interface PolicyTerms {
  /** Definitions that the other terms use. */
  readonly definitions: readonly Named[]
  /** 0 denied, 1 held for approval or delay, 2 allowed. */
  readonly passage: Term
  readonly needed: Term
  readonly delaySeconds: Term
  /** The index in `deciders`. */
  readonly by: Term
}

const RESERVED = ['default', 'per_transaction_usd', 'ceilings', 'max_swap_loss_bps'] as const

/** Returns everything that may decide, by number: first the reasons that are not rules. */
export function deciders(policy: Policy | null): readonly string[] {
  return [...RESERVED, ...(policy?.rules ?? []).map(({ name }) => name)]
}

const DEFAULT = 0
const OVER_ONE_CALL = 1
const CEILINGS = 2
const SWAP_LOSS = 3
const PASSAGE = { deny: 0, require_approval: 1, allow: 2 } as const

interface Outcome {
  readonly when: Term
  readonly passage: number
  readonly by: Term
}

/** @param prefix the prefix of the names that it defines */
export function policyTerms(policy: Policy | null, shape: CallShape, prefix: string): PolicyTerms {
  const definitions: Named[] = []
  const named = (name: string, sort: Named['sort'], term: Term): Term => {
    definitions.push({ name: `${prefix}_${name}`, sort, term })
    return `${prefix}_${name}`
  }
  const losesTooMuch = overALoss(policy, shape)
  if (policy === null) {
    const passage = ite(losesTooMuch, '0', '2')
    const by = ite(losesTooMuch, int(SWAP_LOSS), int(DEFAULT))
    return { definitions, passage, by, needed: '0', delaySeconds: '0' }
  }
  const rules = policy.rules.map((rule, at) => {
    const { holds, fails } = whenTruth(rule.when, shape)
    return {
      ...{ rule, by: int(RESERVED.length + at) },
      holds: known(holds) ? holds : named(`holds_${at}`, 'Bool', holds),
      fails: known(fails) ? fails : named(`fails_${at}`, 'Bool', fails),
    }
  })
  const delays = rules.filter(({ rule }) => isDelay(rule))
  const asking = rules.filter(({ rule }) => rule.effect === 'require_approval')
  const allowing = rules.filter(({ rule }) => rule.effect === 'allow' && !isDelay(rule))
  const heldUp = named('held_up', 'Bool', or(...delays.map(({ fails }) => not(fails))))
  const heldUpBy = named(
    'held_up_by',
    'Int',
    delays.reduceRight((rest, { fails, by }) => ite(fails, rest, by), int(DEFAULT)),
  )
  const { fallback } = policy
  const outcomes: Outcome[] = [
    { when: overOneCall(policy), passage: 0, by: int(OVER_ONE_CALL) },
    ...rules
      .filter(({ rule }) => rule.effect === 'deny')
      .map(({ fails, by }) => ({ when: not(fails), passage: 0, by })),
    ...asking.map(({ fails, by }) => ({ when: not(fails), passage: 1, by })),
    ...allowing.flatMap(({ holds, by }) => [
      { when: and(holds, heldUp), passage: 1, by: heldUpBy },
      { when: holds, passage: 2, by },
    ]),
    ...(fallback === 'allow'
      ? [{ when: heldUp, passage: 1, by: heldUpBy }]
      : delays.map(({ holds, by }) => ({ when: holds, passage: 1, by }))),
  ]
  const tooMany = named('too_many', 'Bool', ceilingsTerm(policy, shape))
  const passage = choose(outcomes, 'passage', int(PASSAGE[fallback]))
  const decided = named('decided', 'Int', passage)
  const by = choose(outcomes, 'by', int(DEFAULT))
  const isRefused = named('refused', 'Bool', and(tooMany, below('0', decided)))
  const losesMost = named(
    'loses_too_much',
    'Bool',
    and(losesTooMuch, not(isRefused), below('0', decided)),
  )
  const isAsked = or(...asking.map(({ fails }) => not(fails)))
  const letsWait = or(...[...delays, ...allowing].map(({ holds }) => holds))
  const atLeast = greatestOf(
    asking.map(({ rule, fails }) => ({ when: not(fails), value: rule.approvals?.needed ?? 1 })),
  )
  const byDefault = int(fallback === 'require_approval' ? 1 : 0)
  const longest = greatestOf(
    [...asking, ...delays].map(({ rule, fails }) => ({
      when: not(fails),
      value: rule.delaySeconds,
    })),
  )
  return {
    definitions,
    passage: named('passage', 'Int', ite(or(isRefused, losesMost), '0', decided)),
    by: named('by', 'Int', ite(isRefused, int(CEILINGS), ite(losesMost, int(SWAP_LOSS), by))),
    needed: named('needed', 'Int', ite(isAsked, atLeast, ite(letsWait, '0', byDefault))),
    delaySeconds: named('delay_seconds', 'Int', longest),
  }
}

function known(term: Term): boolean {
  return term === TRUE || term === FALSE
}

function isDelay({ effect, delaySeconds }: Rule): boolean {
  return effect === 'allow' && delaySeconds > 0
}

function overOneCall({ perTransactionMicros: bound }: Policy): Term {
  return bound === null ? FALSE : or(IS_UNPRICED, below(int(bound), SPEND))
}

function overALoss(policy: Policy | null, { isSponsored }: CallShape): Term {
  const bound = maxSwapLossBpsOf(policy)
  return bound === null || !isSponsored ? FALSE : below(int(bound), LOSS)
}

/** Returns the first outcome that applies. */
function choose(outcomes: readonly Outcome[], field: 'passage' | 'by', otherwise: Term): Term {
  return outcomes.reduceRight((rest, one) => ite(one.when, String(one[field]), rest), otherwise)
}

/**
 * Tells whether the next policy allows the call when the previous one did not, or allows it more
 * easily.
 */
export function isFreer(before: PolicyTerms, next: PolicyTerms): Term {
  const passes = below(before.passage, next.passage)
  const waitsLess = and(
    ...[`(= ${before.passage} 1)`, `(= ${next.passage} 1)`],
    or(below(next.needed, before.needed), below(next.delaySeconds, before.delaySeconds)),
  )
  return or(passes, waitsLess)
}
