import { isoTime } from '../domain/iso-time.js'
import { argumentsCondition } from './argument-condition.js'
import type { CallShown } from './call-shown.js'
import { isWellFormed } from './calldata-words.js'
import { hoursText } from './clock-text.js'
import {
  CANNOT_BE_JUDGED,
  type Condition,
  ELSEWHERE,
  FAILS,
  HOLDS,
  listText,
  OPEN,
  truth,
  UNJUDGEABLE,
  values,
} from './condition.js'
import { type FunctionSignature, parseSignature } from './function-signature.js'
import type { CalledFunction, When } from './policy.js'
import { isWithinHours } from './utc-hours.js'

/** Conditions over who is paid, what is called, where and when. */

export function parties(when: When): Condition[] {
  const found: Condition[] = []
  if (when.newBeneficiary !== undefined) found.push(newBeneficiaryCondition(when.newBeneficiary))
  if (when.beneficiaries !== undefined) {
    const listed = new Set(when.beneficiaries)
    found.push({
      field: 'beneficiaries',
      ...values(listText(when.beneficiaries)),
      heals: null,
      test({ beneficiaries }) {
        if (beneficiaries === null) return UNJUDGEABLE
        if (beneficiaries.every((address) => listed.has(address))) return HOLDS
        // Neither pays those alone nor pays none of them: one wei to the token beside a transfer must
        // not take its payee out of a denial.
        return beneficiaries.some((address) => listed.has(address)) ? UNJUDGEABLE : FAILS
      },
      observed: ({ beneficiaries }) =>
        beneficiaries === null ? CANNOT_BE_JUDGED : beneficiaries.join(', '),
    })
  }
  return found
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

export function shapes(when: When): Condition[] {
  const found: Condition[] = []
  const { arguments: tests, functions, to, operations, chains, utcHours } = when
  if (tests !== undefined) found.push(argumentsCondition(functions?.[0] ?? '', tests))
  if (functions !== undefined) found.push(functionsCondition(functions))
  if (to !== undefined) {
    found.push(listed('to', to, ({ callee }) => callee))
  }
  if (operations !== undefined) {
    found.push(listed('operations', operations, ({ operation }) => operation))
  }
  if (chains !== undefined) found.push(listed('chains', chains, ({ chainId }) => chainId))
  if (utcHours !== undefined) {
    found.push({
      field: 'utc_hours',
      ...values(utcHours.map(hoursText).join(', ')),
      heals: { hours: utcHours },
      test: (_, { nowMs }) => truth(isWithinHours(utcHours, nowMs)),
      observed: (_, { nowMs }) => isoTime(nowMs),
    })
  }
  return found
}

function listed<T extends string | number>(
  field: string,
  options: readonly T[],
  read: (call: CallShown) => T | null,
): Condition {
  const known = new Set<T>(options)
  return {
    field,
    ...values(listText(options)),
    heals: null,
    test(call) {
      const value = read(call)
      return value === null ? UNJUDGEABLE : truth(known.has(value))
    },
    observed: (call) => String(read(call) ?? CANNOT_BE_JUDGED),
  }
}

/** Calldata that names a function and does not fit it cannot be judged; a bare selector fits all. */
function functionsCondition(functions: readonly CalledFunction[]): Condition {
  const bySelector = new Map<string, readonly FunctionSignature[]>()
  const bare = new Set<string>()
  for (const one of functions) {
    const signature = parseSignature(one)
    if (signature === null) bare.add(one)
    else {
      const { selector } = signature
      bySelector.set(selector, [...(bySelector.get(selector) ?? []), signature])
    }
  }
  return {
    field: 'functions',
    ...values(listText(functions)),
    heals: null,
    test({ selector, data }) {
      if (selector === null) return UNJUDGEABLE
      if (bare.has(selector)) return HOLDS
      const signatures = bySelector.get(selector)
      if (signatures === undefined) return FAILS
      return signatures.some((one) => isWellFormed(data, one)) ? HOLDS : UNJUDGEABLE
    },
    observed: ({ selector }) => selector ?? CANNOT_BE_JUDGED,
  }
}
