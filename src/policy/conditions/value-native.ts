import { type Condition, numeric, truth } from '../condition.js'
import { readUint } from '../parse-values.js'
import { around } from '../sampled-call.js'
import { WEI } from '../wire-form.js'
import type { ConditionRow } from './row.js'

/** Bounds on the native currency that goes along, wei. */

export const valueNativeLteRow: ConditionRow<bigint> = {
  wire: 'value_native_lte',
  form: WEI,
  read: readUint,
  write: String,
  words: (wei) => `with at most ${wei} wei`,
  compile: (bound) => valueCondition('value_native_lte', bound, 'within'),
  isAlwaysJudged: true,
  liesWithin: (inner, outer) => inner <= outer,
  sample: { of: 'value', values: around },
}

export const valueNativeGtRow: ConditionRow<bigint> = {
  wire: 'value_native_gt',
  form: WEI,
  read: readUint,
  write: String,
  words: (wei) => `with more than ${wei} wei`,
  compile: (bound) => valueCondition('value_native_gt', bound, 'over'),
  isAlwaysJudged: true,
  liesWithin: (inner, outer) => inner >= outer,
  sample: {
    of: 'value',
    values: around,
    meet: (point, bound) => ({ ...point, value: bound + 1n }),
  },
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
