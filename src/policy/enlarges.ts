import { APPROVAL_SECONDS_DEFAULT } from './approval-asked.js'
import { EFFECTS, type Policy, type PolicyEffect, type Rule, type When } from './policy.js'

/**
 * Whether a new policy is not provably within the old one. The proof is by parts: each bound is as
 * tight, each rule that refused or asked has one that does so at least as widely, and each that let
 * something through lies within one that did. What may be narrower and is not seen to be enlarges.
 * Null is no policy, which lets through all that caps and grant do.
 */
export function policyEnlarges(before: Policy | null, next: Policy | null): boolean {
  if (before === null || letsNothingThrough(next)) return false
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
 * Whether `outer` matches whatever `inner` matches, and fails only where `inner` fails, whatever
 * cannot be judged.
 */
export function liesWithin(inner: When, outer: When): boolean {
  return (
    isSubset(inner.operations, outer.operations) &&
    isSubset(inner.chains, outer.chains) &&
    isSubset(inner.to, outer.to) &&
    isSubset(inner.beneficiaries, outer.beneficiaries) &&
    functionsWithin(inner, outer) &&
    atMost(inner.valueNativeLte, outer.valueNativeLte) &&
    atLeast(inner.valueNativeGt, outer.valueNativeGt) &&
    atMost(inner.spendUsdLte, outer.spendUsdLte) &&
    atLeast(inner.spendUsdGt, outer.spendUsdGt) &&
    amountsWithin(inner, outer) &&
    (outer.newBeneficiary === undefined || inner.newBeneficiary === outer.newBeneficiary) &&
    slidingWithin(inner.count, outer.count) &&
    slidingWithin(inner.sumUsd, outer.sumUsd) &&
    (outer.utcHours === undefined || isSame(inner.utcHours, outer.utcHours)) &&
    (outer.not === undefined || (inner.not !== undefined && liesWithin(outer.not, inner.not)))
  )
}

function keepsBound(before: bigint | null, next: bigint | null): boolean {
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

/** What was denied stays denied, and what was asked about is asked about no less, or denied. */
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

/** Whether people have longer to decide than where the default asks them. */
function asksForLonger({ approvals }: Rule): boolean {
  return approvals !== null && approvals.expiresSeconds > APPROVAL_SECONDS_DEFAULT
}

/** Whether a rule lets through no more easily than an old one for the same calls. */
function isNoFreer(one: Rule, old: Rule): boolean {
  // What cannot be judged is asked about, and was not allowed.
  if (one.effect !== 'allow' && old.effect === 'allow' && !isAlwaysJudged(one.when)) return false
  if (old.effect === 'allow' && old.delaySeconds === 0) return true
  return isAsStrict(one, old)
}

const ALWAYS_JUDGED: ReadonlySet<string> = new Set<keyof When>([
  ...(['chains', 'to', 'valueNativeLte', 'valueNativeGt', 'utcHours'] as const),
])

function isAlwaysJudged({ not, ...conditions }: When): boolean {
  const isJudged = Object.keys(conditions).every((name) => ALWAYS_JUDGED.has(name))
  return isJudged && (not === undefined || isAlwaysJudged(not))
}

function passage(effect: PolicyEffect): number {
  return EFFECTS.indexOf(effect)
}

/** Absent is everything. */
function isSubset<T>(inner: readonly T[] | undefined, outer: readonly T[] | undefined): boolean {
  if (outer === undefined) return true
  return inner?.every((value) => outer.includes(value)) === true
}

/** Arguments are of the one function that is named. */
function functionsWithin(inner: When, outer: When): boolean {
  const { arguments: asked } = outer
  if (asked === undefined) return isSubset(inner.functions, outer.functions)
  return (
    isSame(inner.functions, outer.functions) &&
    asked.every((test) => inner.arguments?.some((one) => isSame(one, test)) === true)
  )
}

/** Of the same tokens: what goes along with them is judged by which are listed. */
function amountsWithin({ amounts: inner }: When, { amounts: outer }: When): boolean {
  if (outer === undefined) return true
  if (inner === undefined || inner.length !== outer.length) return false
  return outer.every((bound) => {
    const one = inner.find(({ token }) => token === bound.token)
    if (one === undefined) return false
    const isBelow = bound.lte === null || (one.lte !== null && one.lte <= bound.lte)
    return isBelow && (bound.gt === null || (one.gt !== null && one.gt >= bound.gt))
  })
}

function slidingWithin<T extends number | bigint>(
  inner: { readonly perSeconds: number; readonly gt: T } | undefined,
  outer: { readonly perSeconds: number; readonly gt: T } | undefined,
): boolean {
  if (outer === undefined) return true
  return inner !== undefined && inner.perSeconds === outer.perSeconds && inner.gt >= outer.gt
}

function atMost(inner: bigint | undefined, outer: bigint | undefined): boolean {
  return outer === undefined || (inner !== undefined && inner <= outer)
}

function atLeast(inner: bigint | undefined, outer: bigint | undefined): boolean {
  return outer === undefined || (inner !== undefined && inner >= outer)
}

/** Both are in canonical order. */
function isSame(one: unknown, other: unknown): boolean {
  return text(one) === text(other)
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}n` : one))
}
