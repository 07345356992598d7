import { isoTime } from '../domain/iso-time.js'
import { formatUsd } from '../domain/money.js'
import type { CallShown } from './call-shown.js'
import { compileWhen } from './compile-when.js'
import {
  CANNOT_BE_JUDGED,
  type Condition,
  ELSEWHERE,
  FAILS,
  type Facts,
  type Heals,
  HOLDS,
  testAll,
  UNJUDGEABLE,
} from './condition.js'
import {
  asksForNewBeneficiaries,
  type Policy,
  type PolicyEffect,
  type Rule,
  windowsOf,
} from './policy.js'
import { hoursChangeAt } from './utc-hours.js'

/**
 * A policy compiled to closures. Deny decides first, then rules that require approval, then allow;
 * when no rule matches, the default decides. A condition that cannot be judged never allows, and
 * always denies or requires approval. Ceilings are judged separately (`ceilings.ts`): they hold
 * whatever the rules allow.
 */
export interface CompiledPolicy {
  readonly policy: Policy
  /** In the order in which they decide. */
  readonly rules: readonly CompiledRule[]
  /** The sliding windows that the policy counts in, seconds. */
  readonly windows: readonly number[]
  readonly asksForNewBeneficiaries: boolean
}

export interface CompiledRule {
  readonly rule: Rule
  /** The effect; a call that only has a delay counts as `require_approval`, see `isDelay`. */
  readonly effect: PolicyEffect
  readonly conditions: readonly Condition[]
}

export interface Verdict {
  readonly effect: PolicyEffect
  /** The rule that decided; null when no rule did. */
  readonly rule: CompiledRule | null
  readonly by: 'rule' | 'default' | 'per_transaction_usd'
}

const ORDER: readonly PolicyEffect[] = ['deny', 'require_approval', 'allow']
const OVER_ONE_CALL: Verdict = { effect: 'deny', rule: null, by: 'per_transaction_usd' }
const BY_DEFAULT = {
  allow: { effect: 'allow', rule: null, by: 'default' },
  deny: { effect: 'deny', rule: null, by: 'default' },
  require_approval: { effect: 'require_approval', rule: null, by: 'default' },
} as const satisfies Record<PolicyEffect, Verdict>

export function compilePolicy(policy: Policy): CompiledPolicy {
  const compiled = policy.rules.map((rule) => ({
    rule,
    effect: rule.effect === 'allow' && rule.delaySeconds > 0 ? 'require_approval' : rule.effect,
    conditions: compileWhen(rule.when),
  })) satisfies CompiledRule[]
  return {
    policy,
    rules: ORDER.flatMap((effect) => compiled.filter((one) => one.effect === effect)),
    windows: windowsOf(policy),
    asksForNewBeneficiaries: asksForNewBeneficiaries(policy),
  }
}

/**
 * The verdict on a call. A judge that leaves conditions to the other domain (`ELSEWHERE`) returns
 * the mildest possible verdict: it denies or requires approval only when every result of those
 * conditions does.
 */
export function judge(compiled: CompiledPolicy, call: CallShown, facts: Facts): Verdict {
  const { policy, rules } = compiled
  if (isOverOneCall(policy, facts)) return OVER_ONE_CALL
  let mayAsk: CompiledRule | null = null
  let holdsUp: CompiledRule | null = null
  for (const rule of rules) {
    const result = testAll(rule.conditions, call, facts)
    if (rule.effect === 'allow') {
      if ((result & HOLDS) !== 0) return verdictOf(holdsUp ?? rule)
    } else if (isDelay(rule)) {
      // The delay applies whatever else allows the call. The rule itself allows, which a condition
      // that cannot be judged never does.
      if ((result & FAILS) === 0) holdsUp ??= rule
      if ((result & HOLDS) !== 0) mayAsk ??= rule
    } else if ((result & FAILS) === 0) return verdictOf(rule)
    else if (rule.effect === 'require_approval' && result !== FAILS) mayAsk ??= rule
  }
  const { fallback } = policy
  if (fallback === 'allow') return holdsUp === null ? BY_DEFAULT.allow : verdictOf(holdsUp)
  return mayAsk === null ? BY_DEFAULT[fallback] : verdictOf(mayAsk)
}

/** Whether a rule allows a call by itself after a delay. */
export function isDelay({ effect, rule }: CompiledRule): boolean {
  return effect === 'require_approval' && rule.effect === 'allow'
}

const verdicts = new WeakMap<CompiledRule, Verdict>()

/** One verdict per rule, cached, so that a call makes none. */
function verdictOf(rule: CompiledRule): Verdict {
  const known = verdicts.get(rule)
  if (known !== undefined) return known
  const verdict: Verdict = { effect: rule.effect, rule, by: 'rule' }
  verdicts.set(rule, verdict)
  return verdict
}

/** Why a call is not allowed, in the wire's terms. */
export interface Denial {
  /** The rule's name, or `default`, `per_transaction_usd`, `ceilings`. */
  readonly rule: string
  readonly field: string
  readonly observed: string
  readonly permitted: string
  readonly heals: Heals | null
  readonly suggestion: string
}

/** @param verdict of this call, other than `allow` */
export function explain(
  compiled: CompiledPolicy,
  verdict: Verdict,
  call: CallShown,
  facts: Facts,
): Denial {
  const { policy } = compiled
  if (verdict.by === 'per_transaction_usd') return overOneCall(policy, facts)
  if (verdict.rule !== null) return matched(verdict.rule, call, facts)
  return nearest(compiled, call, facts)
}

function isOverOneCall({ perTransactionMicros: bound }: Policy, { spendMicros }: Facts): boolean {
  if (bound === null || spendMicros === ELSEWHERE) return false
  return spendMicros === null || spendMicros > bound
}

function overOneCall({ perTransactionMicros }: Policy, { spendMicros }: Facts): Denial {
  const bound = formatUsd(perTransactionMicros ?? 0n)
  return {
    rule: 'per_transaction_usd',
    field: 'per_transaction_usd',
    observed: typeof spendMicros === 'bigint' ? formatUsd(spendMicros) : CANNOT_BE_JUDGED,
    permitted: bound,
    heals: null,
    suggestion: `Send at most ${bound} USD in one call, gas included.`,
  }
}

/**
 * Explains a rule by its first condition that holds or cannot be judged; bounds that people set
 * come first.
 */
function matched({ rule, conditions }: CompiledRule, call: CallShown, facts: Facts): Denial {
  const telling =
    conditions.find(({ test }) => test(call, facts) === UNJUDGEABLE) ?? conditions[0] ?? null
  if (telling === null) {
    return {
      rule: rule.name,
      field: 'when',
      observed: 'any call',
      permitted: 'none',
      heals: null,
      suggestion: `The rule "${rule.name}" is for every call; ask the owner to change the policy.`,
    }
  }
  const { field, failedBy: permitted, heals } = telling
  const observed = telling.observed(call, facts)
  const isUnreadable = telling.test(call, facts) === UNJUDGEABLE
  return {
    rule: rule.name,
    field,
    observed: isUnreadable ? CANNOT_BE_JUDGED : observed,
    permitted,
    heals: isUnreadable ? null : heals,
    suggestion: isUnreadable
      ? `Make a call whose ${field} can be read, or ask the owner to change the policy.`
      : heals === null
        ? `Change ${field} of the call, or ask the owner to change the rule "${rule.name}".`
        : 'Try again at retry_at, or ask the owner to change the policy.',
  }
}

/** No rule allowed the call: the rule with the fewest unmet conditions shows what is missing. */
function nearest({ rules }: CompiledPolicy, call: CallShown, facts: Facts): Denial {
  let best: { readonly missing: readonly Condition[]; readonly name: string } | null = null
  for (const { rule, effect, conditions } of rules) {
    if (effect === 'deny') continue
    const missing = conditions.filter(({ test }) => test(call, facts) !== HOLDS)
    if (missing.length > 0 && (best === null || missing.length < best.missing.length)) {
      best = { missing, name: rule.name }
    }
  }
  const first = best?.missing[0]
  if (best === null || first === undefined) {
    return {
      rule: 'default',
      field: 'default',
      observed: 'no rule matches',
      permitted: 'calls that a rule allows',
      heals: null,
      suggestion: 'Ask the owner to add a rule that allows this call.',
    }
  }
  return {
    rule: 'default',
    field: first.field,
    observed: first.observed(call, facts),
    permitted: first.heldBy,
    heals: best.missing.length === 1 ? first.heals : null,
    suggestion: `The rule "${best.name}" would allow it with ${best.missing.map(({ field, heldBy }) => `${field} ${heldBy}`).join('; ')}.`,
  }
}

/**
 * @param freesAt returns when no more than this is counted in a sliding window, milliseconds since
 * the Unix epoch
 * @returns ISO 8601; null when waiting does not help
 */
export function retryAt(
  heals: Heals | null,
  nowMs: number,
  freesAt: (heals: Exclude<Heals, { readonly hours: unknown }>) => number | null,
): string | null {
  if (heals === null) return null
  const atMs = 'hours' in heals ? hoursChangeAt(heals.hours, nowMs) : freesAt(heals)
  return atMs === null ? null : isoTime(atMs)
}
