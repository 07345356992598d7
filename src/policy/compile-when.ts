import { type Condition, opposite, testAll } from './condition.js'
import { CONDITION_FIELDS, type ConditionField, conditionsIn } from './conditions/index.js'
import type { When } from './policy.js'

/**
 * The conditions that refusals report first: the bounds that people set, then the parties. Other
 * conditions follow.
 */
const REPORTED_FIRST: readonly ConditionField[] = [
  ...(['count', 'sumUsd', 'spendUsdGt', 'spendUsdLte'] as const),
  ...(['amounts', 'valueNativeGt', 'valueNativeLte'] as const),
  ...(['newBeneficiary', 'beneficiaries'] as const),
  ...(['arguments', 'functions', 'to', 'operations', 'tokenOut', 'chains', 'utcHours'] as const),
]
const AS_REPORTED = [...new Set([...REPORTED_FIRST, ...CONDITION_FIELDS])]

/** Compiles conditions in the order in which they are reported. */
export function compileWhen(when: When): Condition[] {
  return [
    ...conditionsIn(when, AS_REPORTED).map(({ row, value }) => row.compile(value, when)),
    ...(when.not === undefined ? [] : [negated(when.not)]),
  ]
}

function negated(when: When): Condition {
  const inner = compileWhen(when)
  const [only, ...others] = inner
  const texts = {
    field: only !== undefined && others.length === 0 ? only.field : 'not',
    heldBy: inner.map(({ failedBy }) => failedBy).join(' or '),
    failedBy: inner.map(({ heldBy }) => heldBy).join(' and '),
    heals: others.length === 0 ? (only?.heals ?? null) : null,
  }
  return {
    ...texts,
    test: (call, facts) => opposite(testAll(inner, call, facts)),
    observed: (call, facts) => inner.map((one) => one.observed(call, facts)).join(', '),
  }
}
