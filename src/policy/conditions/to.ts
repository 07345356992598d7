import type { Address } from '../../domain/ids.js'
import { ADDRESSES_MAX } from '../bounds.js'
import { isSubset } from '../comparisons.js'
import { listed } from '../listed-condition.js'
import { listOf, readAddress } from '../parse-values.js'
import { ADDRESS, listForm } from '../wire-form.js'
import type { ConditionRow } from './row.js'

/** Callees. */
export const toRow: ConditionRow<readonly Address[]> = {
  wire: 'to',
  form: listForm(ADDRESS, 'callees; the venue for a sponsored call'),
  read: listOf(readAddress, ADDRESSES_MAX),
  write: (callees) => callees,
  words: (callees) => `to ${callees.join(', ')}`,
  compile: (callees) => listed('to', callees, ({ callee }) => callee),
  isAlwaysJudged: true,
  liesWithin: isSubset,
  sample: { of: 'callee', values: (callees) => callees },
}
