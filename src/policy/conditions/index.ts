import { type AmountTest, amountsRow } from './amounts.js'
import { argumentsRow } from './arguments.js'
import { beneficiariesRow } from './beneficiaries.js'
import { chainsRow } from './chains.js'
import { functionsRow } from './functions.js'
import { newBeneficiaryRow } from './new-beneficiary.js'
import { operationsRow } from './operations.js'
import type { ConditionRow } from './row.js'
import { countRow, sumUsdRow } from './sliding-windows.js'
import { spendUsdGtRow, spendUsdLteRow } from './spend-usd.js'
import { toRow } from './to.js'
import { tokenOutRow } from './token-out.js'
import { utcHoursRow } from './utc-hours.js'
import { valueNativeGtRow, valueNativeLteRow } from './value-native.js'

/**
 * Each condition of a rule by its field of `When`, in the order of the wire's schema. All that
 * belongs to a condition is in its row, and all that handles conditions iterates over this table.
 */
const TABLE = {
  operations: operationsRow,
  chains: chainsRow,
  to: toRow,
  functions: functionsRow,
  arguments: argumentsRow,
  beneficiaries: beneficiariesRow,
  valueNativeLte: valueNativeLteRow,
  valueNativeGt: valueNativeGtRow,
  amounts: amountsRow satisfies ConditionRow<readonly AmountTest[]>,
  spendUsdLte: spendUsdLteRow,
  spendUsdGt: spendUsdGtRow,
  newBeneficiary: newBeneficiaryRow,
  count: countRow,
  sumUsd: sumUsdRow,
  utcHours: utcHoursRow,
  tokenOut: tokenOutRow,
} as const

export type ConditionField = keyof typeof TABLE

type ValueOf<Row> = Row extends ConditionRow<infer Value> ? Value : never
type AnyValue = ValueOf<(typeof TABLE)[ConditionField]>

/** The conditions of a rule; absent ones test nothing. */
export type Conditions = {
  readonly [Field in ConditionField]?: ValueOf<(typeof TABLE)[Field]>
}

export const CONDITIONS: Readonly<Record<ConditionField, ConditionRow<AnyValue>>> = TABLE
export const CONDITION_FIELDS = Object.keys(TABLE) as ConditionField[]

/** Returns the present conditions with their rows, in these fields' order. */
export function conditionsIn(
  conditions: Conditions,
  fields: readonly ConditionField[] = CONDITION_FIELDS,
) {
  return fields.flatMap((field) => {
    const value = conditions[field]
    return value === undefined ? [] : [{ field, value, row: CONDITIONS[field] }]
  })
}
