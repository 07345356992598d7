import { type JsonSchema, toJsonSchema } from '../api/json-schema.js'
import type { OperationRow } from '../api/operation-row.js'
import { IDEMPOTENCY_ARGUMENT } from './tools.js'

/**
 * Accepts what hosts of language models write where a REST caller would omit a field or use another
 * type. Spec silent: only at this endpoint, `null` for an optional argument means that it is
 * absent, as does an empty text if the argument cannot be empty, and the digits of an integer mean
 * that integer. None of these has another meaning. Everything else that does not fit is refused as
 * usual: an amount given as a number may already have lost digits. Only arguments themselves and
 * items of a list are read this way; inside a policy, null has its own meaning.
 */

/**
 * An integer as JSON writes it; a sign, leading zeros, spaces and hexadecimal digits do not match.
 */
const DIGITS = /^(?:0|[1-9]\d{0,15})$/

interface ArgumentForm {
  readonly nullIsAbsent: boolean
  readonly emptyIsAbsent: boolean
  readonly isInteger: boolean
  readonly isIntegerList: boolean
}

type ArgumentForms = ReadonlyMap<string, ArgumentForm>

const IDEMPOTENCY_FORM: ArgumentForm = {
  nullIsAbsent: true,
  emptyIsAbsent: true,
  isInteger: false,
  isIntegerList: false,
}

const formsOf = new WeakMap<OperationRow, ArgumentForms>()

/** @returns `given` itself if nothing in it needs to be changed, which is nearly always */
export function argumentsAsMeant(
  row: OperationRow,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  let forms: ArgumentForms | undefined
  let meant: Record<string, unknown> | null = null
  for (const name in given) {
    const value = given[name]
    if (typeof value !== 'string' && typeof value !== 'object') continue
    forms ??= argumentForms(row)
    const form = forms.get(name)
    if (form === undefined) continue
    const read = valueAsMeant(form, value)
    if (read === value) continue
    meant ??= { ...given }
    if (read === undefined) delete meant[name]
    else meant[name] = read
  }
  return meant ?? given
}

/** @returns undefined for an absent argument */
function valueAsMeant(form: ArgumentForm, value: unknown): unknown {
  if (value === null) return form.nullIsAbsent ? undefined : value
  if (value === '') return form.emptyIsAbsent ? undefined : value
  if (form.isInteger) return integerAsMeant(value)
  if (!form.isIntegerList || !Array.isArray(value)) return value
  const items: readonly unknown[] = value
  return items.some((item) => integerAsMeant(item) !== item) ? items.map(integerAsMeant) : value
}

function integerAsMeant(value: unknown): unknown {
  if (typeof value !== 'string' || !DIGITS.test(value)) return value
  const integer = Number(value)
  return Number.isSafeInteger(integer) ? integer : value
}

function argumentForms(row: OperationRow): ArgumentForms {
  const known = formsOf.get(row)
  if (known !== undefined) return known
  const { properties = {}, required = [] } = toJsonSchema(row.input, 'input')
  const forms = new Map<string, ArgumentForm>()
  for (const [name, schema] of Object.entries(properties as Record<string, JsonSchema>)) {
    const isOptional = !(required as readonly string[]).includes(name)
    forms.set(name, {
      nullIsAbsent: isOptional && !allows(schema, 'null'),
      emptyIsAbsent: isOptional && !allowsEmptyText(schema),
      isInteger: schema.type === 'integer',
      isIntegerList: schema.type === 'array' && (schema.items as JsonSchema)?.type === 'integer',
    })
  }
  if (row.movesValue) forms.set(IDEMPOTENCY_ARGUMENT, IDEMPOTENCY_FORM)
  formsOf.set(row, forms)
  return forms
}

function allows({ type, anyOf }: JsonSchema, wanted: string): boolean {
  if (Array.isArray(anyOf)) {
    return anyOf.some((branch) => allows(branch as unknown as JsonSchema, wanted))
  }
  return Array.isArray(type) ? type.includes(wanted) : type === wanted
}

function allowsEmptyText(schema: JsonSchema): boolean {
  const { minLength, pattern, anyOf, const: only } = schema
  const choices = schema.enum
  if (Array.isArray(anyOf)) {
    return anyOf.some((branch) => allowsEmptyText(branch as unknown as JsonSchema))
  }
  if (!allows(schema, 'string')) return false
  if (Array.isArray(choices)) return choices.includes('')
  if (only !== undefined) return only === ''
  if (typeof minLength === 'number' && minLength > 0) return false
  return typeof pattern !== 'string' || new RegExp(pattern, 'u').test('')
}
