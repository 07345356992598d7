import { APPROVAL_SECONDS_DEFAULT } from './approval-asked.js'
import { isSame } from './comparisons.js'
import { conditionsIn } from './conditions/index.js'
import {
  EFFECTS,
  maxSwapLossBpsOf,
  type Policy,
  type PolicyEffect,
  type Rule,
  type When,
} from './policy.js'

/**
 * Whether a new policy is not provably within the old one. The proof is by parts: each bound is as
 * tight, each rule that denied or required approval has a counterpart that does so at least as
 * widely, and each rule that allowed lies within one that allowed before. A policy that is narrower
 * without such a proof counts as an enlargement. Null is no policy, which allows all that caps and
 * grant do, and swaps within the default loss bound.
 */
export function policyEnlarges(before: Policy | null, next: Policy | null): boolean {
  if (letsNothingThrough(next)) return false
  if (!keepsBound(maxSwapLossBpsOf(before), maxSwapLossBpsOf(next))) return true
  if (before === null) return false
  if (next === null) return true
  return !(
    keepsBound(before.perTransactionMicros, next.perTransactionMicros) &&
    keepsCeilings(before, next) &&
    keepsBreakers(before, next) &&
    keepsRefusals(before, next) &&
    addsNoPassage(before, next)
  )
}

function letsNothingThrough(policy: Policy | null): boolean {
  if (policy === null || policy.fallback !== 'deny') return false
  return policy.rules.every(({ effect }) => effect === 'deny')
}

/**
 * Whether `outer` matches whatever `inner` matches, and fails only where `inner` fails, for every
 * value of what cannot be judged.
 */
export function liesWithin(inner: When, outer: When): boolean {
  const liesWithinEach = conditionsIn(outer).every(({ field, row, value }) => {
    const known = inner[field]
    return known !== undefined && row.liesWithin(known, value, { inner, outer })
  })
  return (
    liesWithinEach &&
    (outer.not === undefined || (inner.not !== undefined && liesWithin(outer.not, inner.not)))
  )
}

function keepsBound<T extends number | bigint>(before: T | null, next: T | null): boolean {
  return before === null || (next !== null && next <= before)
}

function keepsCeilings(before: Policy, next: Policy): boolean {
  return before.ceilings.every((old) =>
    next.ceilings.some(
      ({ chainId, token, per, amount }) =>
        chainId === old.chainId && token === old.token && per === old.per && amount <= old.amount,
    ),
  )
}

function keepsBreakers(before: Policy, next: Policy): boolean {
  return before.breakers.every((old) => next.breakers.some((one) => isSame(one, old)))
}

/**
 * Whether denied calls stay denied, and calls that needed approval need at least as much or are
 * denied.
 */
function keepsRefusals(before: Policy, next: Policy): boolean {
  return before.rules.every((old) => {
    if (old.effect === 'allow' && old.delaySeconds === 0) return true
    return next.rules.some((one) => isAsStrict(one, old) && liesWithin(old.when, one.when))
  })
}

function isAsStrict(one: Rule, old: Rule): boolean {
  if (one.effect === 'deny') return true
  if (old.effect === 'deny' || one.delaySeconds < old.delaySeconds) return false
  if (old.approvals === null) return one.effect === old.effect || one.approvals !== null
  const { approvals } = one
  return (
    approvals !== null &&
    approvals.needed >= old.approvals.needed &&
    approvals.expiresSeconds <= old.approvals.expiresSeconds
  )
}

function addsNoPassage(before: Policy, next: Policy): boolean {
  if (passage(next.fallback) > passage(before.fallback)) return false
  if (before.fallback === 'allow') return true
  return next.rules.every((one) => {
    if (passage(one.effect) <= passage(before.fallback) && !asksForLonger(one)) return true
    return before.rules.some(
      (old) => passage(old.effect) > 0 && isNoFreer(one, old) && liesWithin(one.when, old.when),
    )
  })
}

/** Whether people have longer to decide than the default gives them. */
function asksForLonger({ approvals }: Rule): boolean {
  return approvals !== null && approvals.expiresSeconds > APPROVAL_SECONDS_DEFAULT
}

/** Whether a rule allows calls no more easily than an old rule for the same calls. */
function isNoFreer(one: Rule, old: Rule): boolean {
  // A call that cannot be judged would need approval, and was not allowed before.
  if (one.effect !== 'allow' && old.effect === 'allow' && !isAlwaysJudged(one.when)) return false
  if (old.effect === 'allow' && old.delaySeconds === 0) return true
  return isAsStrict(one, old)
}

function isAlwaysJudged(when: When): boolean {
  const isJudged = conditionsIn(when).every(({ row }) => row.isAlwaysJudged === true)
  return isJudged && (when.not === undefined || isAlwaysJudged(when.not))
}

function passage(effect: PolicyEffect): number {
  return EFFECTS.indexOf(effect)
}
