import type { CallShown } from '../../policy/call-shown.js'
import type { Facts } from '../../policy/condition.js'
import { type CompiledPolicy, compilePolicy, judge } from '../../policy/judge-policy.js'
import {
  OPERATIONS,
  type Operation,
  type Policy,
  type Rule,
  type When,
} from '../../policy/policy.js'

/**
 * A delegation moves nothing: each call of the Router needs a signed intent besides, which is judged
 * by itself. It is approved where a policy lets some call of the Router through on that chain, at
 * that time; what else such a call has to be, the intent will show. Where people are asked about
 * all of them, it is approved with the call that it is for, which they have approved.
 */
const SPONSORED = OPERATIONS.filter((operation) => operation !== 'send')

/** The part of a policy that is about operations, chains and hours alone. */
export function compileForDelegations(policy: Policy): CompiledPolicy {
  const rules = policy.rules.flatMap((rule) => widened(rule) ?? [])
  return compilePolicy({ ...policy, perTransactionMicros: null, rules, ceilings: [], breakers: [] })
}

/** The same for a delegation that comes with an approved call: what people are asked about may pass. */
export function compileForApprovedDelegations(policy: Policy): CompiledPolicy {
  const { fallback } = policy
  return compileForDelegations({
    ...policy,
    fallback: fallback === 'require_approval' ? 'allow' : fallback,
    rules: policy.rules.map((rule) =>
      rule.effect === 'deny' ? rule : { ...rule, effect: 'allow', delaySeconds: 0 },
    ),
  })
}

export function allowsDelegation(compiled: CompiledPolicy, chainId: number, facts: Facts): boolean {
  return SPONSORED.some(
    (operation) => judge(compiled, shown(operation, chainId), facts).effect === 'allow',
  )
}

function shown(operation: Operation, chainId: number): CallShown {
  return {
    ...{ operation, chainId, value: 0n, data: '0x', selector: 'native' },
    callee: '0x0000000000000000000000000000000000000000',
    moves: null,
    beneficiaries: null,
  }
}

/** A rule that allows stays for all that it might allow; one that refuses, for what it refuses whole. */
function widened(rule: Rule): Rule | null {
  const { operations, chains, utcHours, not } = rule.when
  const isWhole = isOfDelegations(rule.when)
  if (rule.effect !== 'allow') return isWhole ? rule : null
  const when: When = {
    ...(operations === undefined ? {} : { operations }),
    ...(chains === undefined ? {} : { chains }),
    ...(utcHours === undefined ? {} : { utcHours }),
    ...(not === undefined || !isOfDelegations(not) ? {} : { not }),
  }
  return { ...rule, when }
}

const OF_DELEGATIONS: readonly string[] = ['operations', 'chains', 'utcHours']

function isOfDelegations({ not, ...conditions }: When): boolean {
  const isWhole = Object.keys(conditions).every((name) => OF_DELEGATIONS.includes(name))
  return isWhole && (not === undefined || isOfDelegations(not))
}
