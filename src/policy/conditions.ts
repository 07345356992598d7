import { parties, shapes } from './call-conditions.js'
import { type Condition, opposite, testAll } from './condition.js'
import type { When } from './policy.js'
import { quantities } from './quantity-conditions.js'

/** In the order in which they are reported: what people bound comes first. */
export function compileWhen(when: When): Condition[] {
  return [
    ...quantities(when),
    ...parties(when),
    ...shapes(when),
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
