import { CONDITION_FIELDS, CONDITIONS, type ConditionField } from './conditions/index.js'
import { type Faults, fieldPath } from './json-reader.js'
import type { When } from './policy.js'

/** In the order in which faults are reported. */
const IN_TURN: readonly ConditionField[] = [
  ...CONDITION_FIELDS.filter((field) => CONDITIONS[field].readsOthers !== true),
  ...CONDITION_FIELDS.filter((field) => CONDITIONS[field].readsOthers === true),
]
const WIRE = CONDITION_FIELDS.map((field) => CONDITIONS[field].wire)

/** @param depth 1 within a `not`, which may not contain another */
export function readWhen(
  value: unknown,
  path: string,
  faults: Faults,
  depth: 0 | 1 = 0,
): When | null {
  const object = faults.object(value, path, depth === 0 ? [...WIRE, 'not'] : WIRE)
  if (object === null) return null
  const when: Partial<Record<keyof When, unknown>> = {}
  for (const field of IN_TURN) {
    const { wire, read, readsOthers } = CONDITIONS[field]
    if (object[wire] === undefined) continue
    const value = read(object[wire], fieldPath(path, wire), faults, when as When)
    // The fault may be another condition's, so this one counts as present.
    const found = readsOthers === true ? (value ?? object[wire]) : value
    if (found !== null) when[field] = found
  }
  if (depth === 0 && object.not !== undefined) {
    const not = readWhen(object.not, fieldPath(path, 'not'), faults, 1)
    if (not !== null && Object.keys(not).length === 0) {
      faults.report(fieldPath(path, 'not'), 'must have a condition')
    }
    if (not !== null) when.not = not
  }
  return when as When
}
