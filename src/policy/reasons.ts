import type { CallShown } from './call-shown.js'
import { type Condition, FAILS, type Facts, HOLDS, testAll } from './condition.js'
import type { CompiledPolicy, CompiledRule } from './judge-policy.js'

/**
 * Each rule's verdict on a call with its reason: one line each, in the order in which they decide.
 */
export function reasonsOf({ rules }: CompiledPolicy, call: CallShown, facts: Facts): string[] {
  return rules.map((rule) => {
    const { name, effect } = rule.rule
    return `${name} (${effect}): ${reasonOf(rule, call, facts)}`
  })
}

function reasonOf({ conditions, effect }: CompiledRule, call: CallShown, facts: Facts): string {
  const result = testAll(conditions, call, facts)
  if (result === HOLDS) {
    return conditions.length === 0
      ? 'matches every call'
      : `matches: ${conditions.map((one) => lineOf(one, call, facts)).join('; ')}`
  }
  const telling = conditions.filter((one) => one.test(call, facts) === result)
  const lines = telling.map((one) => lineOf(one, call, facts)).join('; ')
  if (result === FAILS) return `does not match: ${lines}`
  const follows = effect === 'allow' ? 'so it does not allow' : 'so it matches'
  return `cannot be judged, ${follows}: ${lines}`
}

function lineOf({ field, heldBy, observed }: Condition, call: CallShown, facts: Facts): string {
  return `${field} is ${observed(call, facts)}, asked for is ${heldBy}`
}
