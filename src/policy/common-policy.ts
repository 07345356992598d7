import { MAX_SWAP_LOSS_BPS_DEFAULT } from '../domain/exchange.js'
import { APPROVAL_SECONDS_DEFAULT } from './approval-asked.js'
import {
  BREAKERS_MAX,
  CEILINGS_MAX,
  POLICY_TEXT_BYTES_MAX,
  RULE_NAME_CHARS_MAX,
  RULES_MAX,
  WINDOWS_MAX,
} from './bounds.js'
import { canonicalText } from './canonical-policy.js'
import { policyEnlarges } from './enlarges.js'
import {
  type Breaker,
  type Ceiling,
  maxSwapLossBpsOf,
  type Policy,
  type Rule,
  windowsOf,
} from './policy.js'

/** The policy that allows nothing. */
export const LEAST_POLICY: Policy = {
  perTransactionMicros: 0n,
  rules: [],
  fallback: 'deny',
  ceilings: [],
  breakers: [],
}

/**
 * A policy that allows only what both allow. When one policy cannot express that, it allows less,
 * and at worst nothing.
 */
export function commonPolicy(some: Policy | null, others: Policy | null): Policy | null {
  // A policy that allows nothing is within any other, whatever its loss bounds.
  if (!policyEnlarges(some, others)) return others
  if (!policyEnlarges(others, some)) return some
  const bound = lesser(maxSwapLossBpsOf(some), maxSwapLossBpsOf(others))
  const [one, other] = [losingAtMost(some, bound), losingAtMost(others, bound)]
  if (!policyEnlarges(one, other)) return other
  if (!policyEnlarges(other, one)) return one
  if (one === null || other === null) return LEAST_POLICY
  const merged = merge(one, other)
  if (
    merged === null ||
    new TextEncoder().encode(canonicalText(merged)).length > POLICY_TEXT_BYTES_MAX
  )
    return LEAST_POLICY
  const isWithin = !policyEnlarges(one, merged) && !policyEnlarges(other, merged)
  return isWithin ? merged : LEAST_POLICY
}

/** The same policy with this bound; without a policy the bound is at most the default. */
function losingAtMost(policy: Policy | null, bound: number | null): Policy | null {
  if (policy === null || maxSwapLossBpsOf(policy) === bound) return policy
  const { maxSwapLossBps: _, ...rest } = policy
  return bound === MAX_SWAP_LOSS_BPS_DEFAULT ? rest : { ...rest, maxSwapLossBps: bound }
}

/** Merges two policies: when the default of one allows, the other's rules decide. */
function merge(one: Policy, other: Policy): Policy | null {
  const [wide, strict] = one.fallback === 'allow' ? [one, other] : [other, one]
  if (wide.fallback !== 'allow') return null
  const refusing = wide.rules.flatMap((rule): Rule[] => {
    if (rule.effect === 'deny') return [rule]
    if (rule.effect === 'allow' && rule.delaySeconds === 0) return []
    // The rule would require approval of calls that the other policy denies, or a delay of calls
    // for which the other requires approval.
    if (strict.fallback === 'allow') return [rule]
    const { approvals } = rule
    if (approvals !== null && strict.fallback === 'require_approval') {
      // When the other policy's default requires approval, people have at most its time to decide.
      const expiresSeconds = Math.min(approvals.expiresSeconds, APPROVAL_SECONDS_DEFAULT)
      return [{ ...rule, approvals: { ...approvals, expiresSeconds } }]
    }
    return [{ ...rule, effect: 'deny', approvals: null, delaySeconds: 0 }]
  })
  const merged: Policy = {
    perTransactionMicros: lesser(one.perTransactionMicros, other.perTransactionMicros),
    ...(one.maxSwapLossBps === undefined ? {} : { maxSwapLossBps: one.maxSwapLossBps }),
    rules: renamed([...strict.rules, ...refusing]),
    fallback: strict.fallback,
    ceilings: mergedCeilings(strict.ceilings, wide.ceilings),
    breakers: mergedBreakers(strict.breakers, wide.breakers),
  }
  const { rules, ceilings, breakers } = merged
  const fits =
    rules.length <= RULES_MAX &&
    ceilings.length <= CEILINGS_MAX &&
    breakers.length <= BREAKERS_MAX &&
    windowsOf(merged).length <= WINDOWS_MAX
  return fits ? merged : null
}

/** Makes rule names unique. */
function renamed(rules: readonly Rule[]): Rule[] {
  const names = new Set<string>()
  return rules.map((rule) => {
    let { name } = rule
    for (let again = 2; names.has(name); again++) {
      const suffix = ` ${again}`
      name = `${rule.name.slice(0, RULE_NAME_CHARS_MAX - suffix.length).trim()}${suffix}`
    }
    names.add(name)
    return { ...rule, name }
  })
}

function mergedCeilings(some: readonly Ceiling[], others: readonly Ceiling[]): Ceiling[] {
  const least = new Map<string, Ceiling>()
  for (const ceiling of [...some, ...others]) {
    const name = `${String(ceiling.chainId).padStart(12, '0')}:${ceiling.token}:${ceiling.per}`
    const known = least.get(name)
    if (known === undefined || ceiling.amount < known.amount) least.set(name, ceiling)
  }
  return [...least.keys()].sort().flatMap((name) => least.get(name) ?? [])
}

function mergedBreakers(some: readonly Breaker[], others: readonly Breaker[]): Breaker[] {
  const text = ({ kind, count, factor, perSeconds }: Breaker) =>
    `${kind}:${perSeconds}:${count ?? factor}`
  const all = new Map([...some, ...others].map((breaker) => [text(breaker), breaker]))
  return [...all.keys()].sort().flatMap((name) => all.get(name) ?? [])
}

function lesser<T extends number | bigint>(one: T | null, other: T | null): T | null {
  if (one === null) return other
  return other === null || one < other ? one : other
}
