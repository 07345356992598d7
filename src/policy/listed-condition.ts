import type { CallShown } from './call-shown.js'
import {
  CANNOT_BE_JUDGED,
  type Condition,
  listText,
  truth,
  UNJUDGEABLE,
  values,
} from './condition.js'

/** Makes the condition that one property of a call is listed. */
export function listed<T extends string | number>(
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
