import { isWellFormed } from '../abi-words.js'
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
import {
  type CalledFunction,
  type FunctionSignature,
  parseSignature,
} from '../function-signature.js'
import type { Faults } from '../json-reader.js'
import { listOf } from '../parse-values.js'
import { listForm, TEXT } from '../wire-form.js'
import type { ConditionRow } from './row.js'

const FUNCTIONS_MAX = 64
const FUNCTION_CHARS_MAX = 256
const SELECTOR = /^0x[0-9a-fA-F]{8}$/

export const functionsRow: ConditionRow<readonly CalledFunction[]> = {
  wire: 'functions',
  form: listForm(
    TEXT,
    '"transfer(address,uint256)", a 4-byte selector, or "native" for empty calldata',
  ),
  read: listOf(readFunction, FUNCTIONS_MAX),
  write: (functions) => functions,
  words: (functions) => `of the functions ${functions.join(', ')}`,
  compile: functionsCondition,
  liesWithin: isSubset,
  sample: { of: 'function', values: (functions) => functions },
}

function readFunction(value: unknown, path: string, faults: Faults): string | null {
  if (value === 'native') return value
  if (typeof value === 'string' && SELECTOR.test(value)) return value.toLowerCase()
  const isSignature =
    typeof value === 'string' &&
    value.length <= FUNCTION_CHARS_MAX &&
    parseSignature(value) !== null
  if (isSignature) return value
  return faults.report(
    path,
    'must be a signature like "transfer(address,uint256)" with full types and no spaces, a 4-byte selector, or "native"',
  )
}

/**
 * Calldata that names a function and does not fit it cannot be judged; a bare selector fits any
 * calldata.
 */
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
