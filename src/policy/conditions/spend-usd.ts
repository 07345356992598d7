import { formatUsd, type UsdMicros } from '../../domain/money.js'
import {
  CANNOT_BE_JUDGED,
  type Condition,
  ELSEWHERE,
  numeric,
  OPEN,
  truth,
  UNJUDGEABLE,
} from '../condition.js'
import { readUsd } from '../parse-values.js'
import { around } from '../sampled-call.js'
import { USD } from '../wire-form.js'
import type { ConditionRow } from './row.js'

/** Bounds on what the call spends of the caps, micro-USD, gas included. */

export const spendUsdLteRow: ConditionRow<UsdMicros> = {
  wire: 'spend_usd_lte',
  form: USD,
  read: readUsd,
  write: formatUsd,
  words: (micros) => `worth at most ${formatUsd(micros)} USD`,
  compile: (bound) => spendCondition('spend_usd_lte', bound, 'within'),
  liesWithin: (inner, outer) => inner <= outer,
  sample: { of: 'spend', values: around },
}

export const spendUsdGtRow: ConditionRow<UsdMicros> = {
  wire: 'spend_usd_gt',
  form: USD,
  read: readUsd,
  write: formatUsd,
  words: (micros) => `worth more than ${formatUsd(micros)} USD`,
  compile: (bound) => spendCondition('spend_usd_gt', bound, 'over'),
  liesWithin: (inner, outer) => inner >= outer,
  sample: {
    of: 'spend',
    values: around,
    meet: (point, bound) => ({ ...point, spendMicros: bound + 1n }),
  },
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
