import { formatUsd } from '../domain/money.js'
import {
  CANNOT_BE_JUDGED,
  type Condition,
  ELSEWHERE,
  FAILS,
  type Facts,
  numeric,
  OPEN,
  type Truth,
  truth,
  UNJUDGEABLE,
  values,
} from './condition.js'
import type { AmountTest, When } from './policy.js'

/** Conditions over how much and how often. */

export function quantities(when: When): Condition[] {
  const { count, sumUsd, spendUsdLte, spendUsdGt, valueNativeLte, valueNativeGt, amounts } = when
  const found: Condition[] = []
  if (count !== undefined) found.push(countCondition(count))
  if (sumUsd !== undefined) found.push(sumCondition(sumUsd))
  if (spendUsdGt !== undefined) found.push(spendCondition('spend_usd_gt', spendUsdGt, 'over'))
  if (spendUsdLte !== undefined) found.push(spendCondition('spend_usd_lte', spendUsdLte, 'within'))
  if (amounts !== undefined) found.push(amountsCondition(amounts))
  if (valueNativeGt !== undefined)
    found.push(valueCondition('value_native_gt', valueNativeGt, 'over'))
  if (valueNativeLte !== undefined) {
    found.push(valueCondition('value_native_lte', valueNativeLte, 'within'))
  }
  return found
}

function countCondition({ perSeconds, gt }: { perSeconds: number; gt: number }): Condition {
  return {
    field: 'count',
    ...numeric(String(gt)),
    heals: { perSeconds, countMax: gt - 1 },
    test(_, { within }) {
      const counted = within(perSeconds)
      return counted === null ? UNJUDGEABLE : truth(counted.count + 1 > gt)
    },
    observed(_, { within }) {
      const counted = within(perSeconds)
      return counted === null ? CANNOT_BE_JUDGED : String(counted.count + 1)
    },
  }
}

function sumCondition({ perSeconds, gt }: { perSeconds: number; gt: bigint }): Condition {
  const sumOf = ({ within, spendMicros, countsUsd }: Facts): bigint | null => {
    const counted = within(perSeconds)
    if (counted === null || typeof spendMicros !== 'bigint' || !countsUsd) return null
    return counted.micros + spendMicros
  }
  return {
    field: 'sum_usd',
    ...numeric(formatUsd(gt)),
    heals: { perSeconds, microsMax: gt },
    test(_, facts) {
      if (facts.spendMicros === ELSEWHERE) return OPEN
      const sum = sumOf(facts)
      return sum === null ? UNJUDGEABLE : truth(sum > gt)
    },
    observed(_, facts) {
      const sum = sumOf(facts)
      return sum === null ? CANNOT_BE_JUDGED : formatUsd(sum)
    },
  }
}

function spendCondition(field: string, bound: bigint, side: 'over' | 'within'): Condition {
  return {
    field,
    ...numeric(formatUsd(bound)),
    heals: null,
    test(_, { spendMicros }) {
      if (spendMicros === ELSEWHERE) return OPEN
      if (spendMicros === null) return UNJUDGEABLE
      return truth(spendMicros > bound === (side === 'over'))
    },
    observed: (_, { spendMicros }) =>
      typeof spendMicros === 'bigint' ? formatUsd(spendMicros) : CANNOT_BE_JUDGED,
  }
}

function valueCondition(field: string, bound: bigint, side: 'over' | 'within'): Condition {
  return {
    field,
    ...numeric(bound.toString()),
    heals: null,
    test: ({ value }) => truth(value > bound === (side === 'over')),
    observed: ({ value }) => value.toString(),
  }
}

/**
 * Holds when the call moves a token that is listed, within every bound for it. Of a token and native
 * value that go along with it each is held against its own bounds: where they differ, or where the
 * native value is not listed, the answer is unknown. So one wei more takes nothing out of a refusal.
 */
function amountsCondition(tests: readonly AmountTest[]): Condition {
  const listsNative = tests.some(({ token }) => token === 'native')
  const only = onlyBound(tests)
  return {
    field: 'amounts',
    ...(only === null ? values(tests.map(boundText).join(', ')) : numeric(String(only))),
    heals: null,
    test({ moves, value }) {
      if (moves === null) return UNJUDGEABLE
      if (value > 0n && moves.length > 1 && !listsNative) return UNJUDGEABLE
      let all: Truth | null = null
      for (const { token, lte, gt } of tests) {
        for (const move of moves) {
          if (move.token !== token) continue
          const breaks = (lte !== null && move.amount > lte) || (gt !== null && move.amount <= gt)
          const one = truth(!breaks)
          all = all === null || all === one ? one : UNJUDGEABLE
        }
      }
      return all ?? FAILS
    },
    observed: ({ moves }) =>
      moves === null
        ? CANNOT_BE_JUDGED
        : only !== null && moves.length === 1 && moves[0]?.token === tests[0]?.token
          ? String(moves[0]?.amount)
          : moves.map(({ token, amount }) => `${amount} of ${token}`).join(', ') || 'nothing',
  }
}

/** The one number that it bounds, where there is one. */
function onlyBound(tests: readonly AmountTest[]): bigint | null {
  const [test] = tests
  if (test === undefined || tests.length > 1) return null
  if (test.lte !== null && test.gt !== null) return null
  return test.lte ?? test.gt
}

function boundText({ token, lte, gt }: AmountTest): string {
  const bounds = [lte === null ? [] : `at most ${lte}`, gt === null ? [] : `more than ${gt}`]
  return `${bounds.flat().join(' and ')} of ${token}`
}
