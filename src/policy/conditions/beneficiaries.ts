import type { Address } from '../../domain/ids.js'
import { ADDRESSES_MAX } from '../bounds.js'
import { isSubset } from '../comparisons.js'
import {
  CANNOT_BE_JUDGED,
  type Condition,
  FAILS,
  HOLDS,
  listText,
  UNJUDGEABLE,
  values,
} from '../condition.js'
import { listOf, readAddress } from '../parse-values.js'
import { ADDRESS, listForm } from '../wire-form.js'
import type { ConditionRow } from './row.js'

export const beneficiariesRow: ConditionRow<readonly Address[]> = {
  wire: 'beneficiaries',
  form: listForm(ADDRESS, 'every address that is paid is one of these'),
  read: listOf(readAddress, ADDRESSES_MAX),
  write: (payees) => payees,
  words: (payees) => `that pay only ${payees.join(', ')}`,
  compile: beneficiariesCondition,
  liesWithin: isSubset,
  sample: { of: 'payee', values: (payees) => payees },
}

function beneficiariesCondition(payees: readonly Address[]): Condition {
  const listed = new Set(payees)
  return {
    field: 'beneficiaries',
    ...values(listText(payees)),
    heals: null,
    test({ beneficiaries }) {
      if (beneficiaries === null) return UNJUDGEABLE
      if (beneficiaries.every((address) => listed.has(address))) return HOLDS
      // The call pays listed and other addresses: one wei to the token next to a transfer must
      // not take its beneficiary out of a denial.
      return beneficiaries.some((address) => listed.has(address)) ? UNJUDGEABLE : FAILS
    },
    observed: ({ beneficiaries }) =>
      beneficiaries === null ? CANNOT_BE_JUDGED : beneficiaries.join(', '),
  }
}
