import { OPERATIONS, type Operation } from '../call-terms.js'
import { isSubset } from '../comparisons.js'
import { listed } from '../listed-condition.js'
import { listOf } from '../parse-values.js'
import { listForm } from '../wire-form.js'
import type { ConditionRow } from './row.js'

/** The kind of transaction. */
export const operationsRow: ConditionRow<readonly Operation[]> = {
  wire: 'operations',
  form: listForm({ kind: 'option', options: OPERATIONS }),
  read: listOf(
    (value, path, faults) => faults.oneOf<Operation>(value, path, OPERATIONS),
    OPERATIONS.length,
  ),
  write: (names) => names,
  words: (names) => `of ${names.join(', ')}`,
  compile: (names) => listed('operations', names, ({ operation }) => operation),
  isOfDelegations: true,
  liesWithin: isSubset,
  sample: { of: 'operation', values: (names) => names },
}
