import { formatUsd, type UsdMicros } from '../../domain/money.js'
import { COUNT_MAX, PER_SECONDS_MAX } from '../bounds.js'
import {
  CANNOT_BE_JUDGED,
  type Condition,
  ELSEWHERE,
  type Facts,
  numeric,
  OPEN,
  truth,
  UNJUDGEABLE,
} from '../condition.js'
import type { Faults } from '../json-reader.js'
import { readUsd } from '../parse-values.js'
import { sorted } from '../policy-json.js'
import { PROPERTIES } from '../sampled-call.js'
import { NUMBER, PER_SECONDS, USD } from '../wire-form.js'
import { duration } from '../word-forms.js'
import type { ConditionRow } from './row.js'

/** Bounds on what a key's lineage does in a sliding window, the call itself included. */

export interface Sliding<Bound> {
  readonly perSeconds: number
  readonly gt: Bound
}

export const countRow: ConditionRow<Sliding<number>> = {
  wire: 'count',
  form: {
    kind: 'fields',
    fields: { per_seconds: PER_SECONDS, gt: NUMBER },
    note: 'calls of the key, this one included',
  },
  read: slidingOf((value, path, faults) => faults.integer(value, path, 0, COUNT_MAX)),
  write: ({ perSeconds, gt }) => sorted({ per_seconds: perSeconds, gt }),
  words: ({ perSeconds, gt }) => `beyond ${gt} in ${duration(perSeconds)}`,
  compile: countCondition,
  liesWithin: slidingWithin,
  window: ({ perSeconds }) => perSeconds,
  sample: {
    of: 'counted',
    values: ({ perSeconds, gt }) =>
      [Math.max(0, gt - 1), gt].map((count) => ({ perSeconds, count, micros: 0n })),
    meet: (point, { perSeconds, gt }) =>
      PROPERTIES.counted.give(point, { perSeconds, count: gt, micros: 0n }),
  },
}

export const sumUsdRow: ConditionRow<Sliding<UsdMicros>> = {
  wire: 'sum_usd',
  form: {
    kind: 'fields',
    fields: { per_seconds: PER_SECONDS, gt: USD },
    note: 'what they spend, this one included',
  },
  read: slidingOf(readUsd),
  write: ({ perSeconds, gt }) => sorted({ per_seconds: perSeconds, gt: formatUsd(gt) }),
  words: ({ perSeconds, gt }) => `beyond ${formatUsd(gt)} USD in ${duration(perSeconds)}`,
  compile: sumCondition,
  liesWithin: slidingWithin,
  window: ({ perSeconds }) => perSeconds,
  sample: {
    of: 'counted',
    values: ({ perSeconds, gt }) => [{ perSeconds, count: 1, micros: gt }],
  },
}

function slidingOf<Bound>(
  readBound: (value: unknown, path: string, faults: Faults) => Bound | null,
): ConditionRow<Sliding<Bound>>['read'] {
  return (value, path, faults) => {
    const object = faults.object(value, path, ['per_seconds', 'gt'])
    if (object === null) return null
    const at = `${path}.per_seconds`
    const perSeconds = faults.integer(object.per_seconds, at, 1, PER_SECONDS_MAX)
    const gt = readBound(object.gt, `${path}.gt`, faults)
    return perSeconds === null || gt === null ? null : { perSeconds, gt }
  }
}

function countCondition({ perSeconds, gt }: Sliding<number>): Condition {
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

function sumCondition({ perSeconds, gt }: Sliding<UsdMicros>): Condition {
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

function slidingWithin<Bound extends number | bigint>(
  inner: Sliding<Bound>,
  outer: Sliding<Bound>,
): boolean {
  return inner.perSeconds === outer.perSeconds && inner.gt >= outer.gt
}
