import { APPROVAL_SECONDS_DEFAULT } from './approval-asked.js'
import { canonicalText } from './canonical-policy.js'
import { policyEnlarges } from './enlarges.js'
import {
  BREAKERS_MAX,
  type Breaker,
  CEILINGS_MAX,
  type Ceiling,
  POLICY_TEXT_BYTES_MAX,
  type Policy,
  RULE_NAME_CHARS_MAX,
  RULES_MAX,
  type Rule,
  WINDOWS_MAX,
  windowsOf,
} from './policy.js'

/** Lets nothing through. */
export const LEAST_POLICY: Policy = {
  perTransactionMicros: 0n,
  rules: [],
  fallback: 'deny',
  ceilings: [],
  breakers: [],
}

/**
 * A policy that lets through only what both let through. Where that cannot be written as one policy,
 * it lets through less, and at worst nothing.
 */
export function commonPolicy(one: Policy | null, other: Policy | null): Policy | null {
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

/** Where the default of one of the two allows, the other's rules say what passes. */
function merge(one: Policy, other: Policy): Policy | null {
  const [wide, strict] = one.fallback === 'allow' ? [one, other] : [other, one]
  if (wide.fallback !== 'allow') return null
  const refusing = wide.rules.flatMap((rule): Rule[] => {
    if (rule.effect === 'deny') return [rule]
    if (rule.effect === 'allow' && rule.delaySeconds === 0) return []
    // It would ask about what the other refuses unasked, or let wait what the other asks about.
    if (strict.fallback === 'allow') return [rule]
    const { approvals } = rule
    if (approvals !== null && strict.fallback === 'require_approval') {
      // Where the other's default asks, people have no longer than that gives them.
      const expiresSeconds = Math.min(approvals.expiresSeconds, APPROVAL_SECONDS_DEFAULT)
      return [{ ...rule, approvals: { ...approvals, expiresSeconds } }]
    }
    return [{ ...rule, effect: 'deny', approvals: null, delaySeconds: 0 }]
  })
  const merged: Policy = {
    perTransactionMicros: lesser(one.perTransactionMicros, other.perTransactionMicros),
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

/** A name is one rule's. */
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

function lesser(one: bigint | null, other: bigint | null): bigint | null {
  if (one === null) return other
  return other === null || one < other ? one : other
}
