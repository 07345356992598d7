import type { CallShown } from '../../policy/call-shown.js'
import { OPERATIONS, type Operation } from '../../policy/call-terms.js'
import type { Facts } from '../../policy/condition.js'
import { CONDITION_FIELDS, CONDITIONS, conditionsIn } from '../../policy/conditions/index.js'
import { type CompiledPolicy, compilePolicy, judge } from '../../policy/judge-policy.js'
import type { Policy, Rule, When } from '../../policy/policy.js'

/**
 * A delegation moves nothing: each call of the Router also needs a signed intent, which is judged
 * separately. A delegation is approved when the policy lets some call of the Router pass on that
 * chain at that time; the intent shows the rest. When every such call needs people's approval, the
 * delegation is approved together with the call that they approved.
 */
const SPONSORED = OPERATIONS.filter((operation) => operation !== 'send')

/** Keeps only the conditions of a policy that a delegation shows, such as its chain. */
export function compileForDelegations(policy: Policy): CompiledPolicy {
  const rules = policy.rules.flatMap((rule) => widened(rule) ?? [])
  return compilePolicy({ ...policy, perTransactionMicros: null, rules, ceilings: [], breakers: [] })
}

/** The same for a delegation with an approved call: calls that need an approval may pass. */
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
    tokenOut: null,
  }
}

const OF_DELEGATIONS = CONDITION_FIELDS.filter(
  (field) => CONDITIONS[field].isOfDelegations === true,
)

/**
 * Widens an allowing rule to every delegation that it might allow. A refusing rule stays only when
 * nothing but what a delegation shows decides about it.
 */
function widened(rule: Rule): Rule | null {
  const isWhole = isOfDelegations(rule.when)
  if (rule.effect !== 'allow') return isWhole ? rule : null
  const { not } = rule.when
  const kept = conditionsIn(rule.when, OF_DELEGATIONS)
  const when: When = {
    ...Object.fromEntries(kept.map(({ field, value }) => [field, value])),
    ...(not === undefined || !isOfDelegations(not) ? {} : { not }),
  }
  return { ...rule, when }
}

function isOfDelegations(when: When): boolean {
  const isWhole = conditionsIn(when).every(({ row }) => row.isOfDelegations === true)
  return isWhole && (when.not === undefined || isOfDelegations(when.not))
}
