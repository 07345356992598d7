import {
  CANNOT_BE_JUDGED,
  type Condition,
  ELSEWHERE,
  OPEN,
  truth,
  UNJUDGEABLE,
} from '../condition.js'
import { readBoolean } from '../parse-values.js'
import type { ConditionRow } from './row.js'

/** Whether the call pays an address that the wallet has not paid before. */
export const newBeneficiaryRow: ConditionRow<boolean> = {
  wire: 'new_beneficiary',
  form: { kind: 'boolean', note: 'true: not paid by this sub-wallet before' },
  read: readBoolean,
  write: (isNew) => isNew,
  words: (isNew) => (isNew ? 'that pay somebody new' : 'that pay nobody new'),
  compile: newBeneficiaryCondition,
  readsPayees: true,
  sample: {
    of: 'isPayeeKnown',
    values: () => [],
    meet: (point, isNew) => ({ ...point, isPayeeKnown: !isNew }),
  },
  liesWithin: (inner, outer) => inner === outer,
}

function newBeneficiaryCondition(isNew: boolean): Condition {
  return {
    field: 'new_beneficiary',
    heldBy: isNew ? 'not paid before' : 'paid before',
    failedBy: isNew ? 'paid before' : 'not paid before',
    heals: null,
    test({ beneficiaries }, { hasPaid }) {
      if (hasPaid === ELSEWHERE) return OPEN
      if (hasPaid === null || beneficiaries === null) return UNJUDGEABLE
      return truth(beneficiaries.some((address) => !hasPaid(address)) === isNew)
    },
    observed({ beneficiaries }, { hasPaid }) {
      if (typeof hasPaid !== 'function' || beneficiaries === null) return CANNOT_BE_JUDGED
      const strangers = beneficiaries.filter((address) => !hasPaid(address))
      return strangers.length === 0 ? 'paid before' : strangers.join(', ')
    },
  }
}
