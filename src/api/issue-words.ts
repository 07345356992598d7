import { z } from 'zod'

/**
 * Describes a faulty input to its author: what is expected there, in JSON's terms. Schemas with a
 * better text of their own (`must be 0x and 40 hex digits`) keep it.
 */

const CHOICES_MAX = 12
const FIELDS_MAX = 24

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  record: 'an object',
  null: 'null',
}

type RawIssue = z.core.$ZodRawIssue

/** An error map for `safeParse`; undefined keeps the package's text. */
export function describeIssue(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return describeType(issue, nounOfExpected(issue))
    case 'invalid_value':
      return issue.input === undefined
        ? `is missing: give ${choices(issue.values)}`
        : `must be ${choices(issue.values)}`
    case 'too_small':
      return `must ${bound(issue.origin, 'at least', issue.minimum)}`
    case 'too_big':
      return `must ${bound(issue.origin, 'at most', issue.maximum)}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      return 'does not have the expected form'
    case 'unrecognized_keys':
      return unknownField(issue.inst)
    case 'invalid_key':
      return 'has a name that is not allowed here'
    case 'invalid_element':
      return 'has an entry that is not allowed here'
    default:
      return undefined
  }
}

function nounOfExpected({ inst, expected }: Extract<RawIssue, { code: 'invalid_type' }>): string {
  if (inst instanceof z.ZodNumberFormat) return 'an integer'
  return NOUNS[expected] ?? `a value of type ${expected}`
}

function describeType({ input, inst }: RawIssue, expected: string): string {
  const meaning = descriptionOf(inst)
  const wanted = meaning === undefined ? expected : `${expected} (${meaning})`
  if (input === undefined) return `is missing: give ${wanted}`
  if (expected === NOUNS.string && typeof input === 'number') {
    return `must be ${wanted}, not a number: put it in quotes`
  }
  return `must be ${wanted}, not ${nounOf(input)}`
}

/** The kind of an input, never its contents. */
function nounOf(input: unknown): string {
  if (input === null) return 'null'
  if (Array.isArray(input)) return 'an array'
  if (typeof input === 'number' && !Number.isInteger(input)) return 'a fraction'
  return NOUNS[typeof input] ?? 'something else'
}

function choices(values: readonly unknown[]): string {
  const shown = values.slice(0, CHOICES_MAX).map((value) => JSON.stringify(value))
  return shown.length === 1 ? `${shown[0]}` : `one of ${shown.join(', ')}`
}

function bound(origin: string, relation: string, limit: number | bigint): string {
  if (origin === 'string') return `have ${relation} ${counted(limit, 'character')}`
  if (origin === 'array' || origin === 'set') return `have ${relation} ${counted(limit, 'entry')}`
  return `be ${relation} ${limit}`
}

function counted(count: number | bigint, noun: 'character' | 'entry'): string {
  if (Number(count) === 1) return `1 ${noun}`
  return `${count} ${noun === 'entry' ? 'entries' : 'characters'}`
}

function unknownField(schema: unknown): string {
  const fields = schema instanceof z.ZodObject ? Object.keys(schema.shape).slice(0, FIELDS_MAX) : []
  if (fields.length === 0) return 'unknown field: no fields are allowed here'
  return `unknown field; taken here: ${fields.join(', ')}`
}

function descriptionOf(schema: unknown): string | undefined {
  return schema instanceof z.ZodType ? schema.description : undefined
}
