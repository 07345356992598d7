import { isClean, isWellFormed, wordAt, wordValue } from '../abi-words.js'
import type { CallShown } from '../call-shown.js'
import type { ArgumentValue } from '../call-terms.js'
import { isSame } from '../comparisons.js'
import {
  CANNOT_BE_JUDGED,
  type Condition,
  HOLDS,
  listText,
  type Truth,
  truth,
  UNJUDGEABLE,
  values,
} from '../condition.js'
import {
  type CalledFunction,
  type FunctionSignature,
  parseSignature,
  type Word,
} from '../function-signature.js'
import type { Faults } from '../json-reader.js'
import { readAddress, readBoolean } from '../parse-values.js'
import { sorted } from '../policy-json.js'
import { type Point, PROPERTIES } from '../sampled-call.js'
import { listForm, NUMBER, TEXT, type WireForm } from '../wire-form.js'
import type { ConditionRow, OtherConditions } from './row.js'

export type ArgumentTest = { readonly index: number } & (
  | { readonly op: 'eq' | 'lte' | 'gte'; readonly value: ArgumentValue }
  | { readonly op: 'in'; readonly value: readonly ArgumentValue[] }
)

const OPS = ['eq', 'in', 'lte', 'gte'] as const
const ARGUMENT_VALUE: readonly WireForm[] = [TEXT, { kind: 'boolean' }]
const ARGUMENT_TESTS_MAX = 16
const ARGUMENT_VALUES_MAX = 64
const DECIMAL = /^(?:0|[1-9]\d*)$/
const INTEGER = /^(?:0|-?[1-9]\d*)$/
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/

/** Arguments of the one function that `functions` names by its signature. */
export const argumentsRow: ConditionRow<readonly ArgumentTest[]> = {
  wire: 'arguments',
  form: listForm(
    {
      kind: 'fields',
      fields: {
        index: NUMBER,
        op: { kind: 'option', options: OPS },
        value: {
          kind: 'either',
          of: [...ARGUMENT_VALUE, listForm({ kind: 'either', of: ARGUMENT_VALUE })],
        },
      },
    },
    'arguments of the one function that `functions` names by signature',
  ),
  readsOthers: true,
  read: readArguments,
  write: (tests) => tests.map(({ index, op, value }) => sorted({ index, op, value })),
  words: (tests) => `where ${tests.map(describeArgument).join(' and ')}`,
  compile: (tests, { functions }) => argumentsCondition(functions?.[0] ?? '', tests),
  // Arguments belong to the one function that is named.
  liesWithin: (inner, outer, around) =>
    isSame(around.inner.functions, around.outer.functions) &&
    outer.every((test) => inner.some((one) => isSame(one, test))),
  sample: {
    of: 'argument',
    values: (tests) => tests.flatMap((test) => valuesOf(test).map((value) => ({ ...test, value }))),
    meet: meetingAll,
  },
}

function readArguments(
  value: unknown,
  path: string,
  faults: Faults,
  { functions }: OtherConditions,
): ArgumentTest[] | null {
  const [name] = functions ?? []
  const signature = name === undefined ? null : parseSignature(name)
  if (functions?.length !== 1 || signature === null) {
    return faults.report(path, 'needs functions with exactly one signature')
  }
  const bounds = { min: 1, max: ARGUMENT_TESTS_MAX }
  const tests = faults.list(value, path, bounds, (element, at) =>
    readArgument(element, at, signature, faults),
  )
  if (tests === null) return null
  const byText = new Map(tests.map((test) => [JSON.stringify(test), test]))
  const order = (test: ArgumentTest) => `${String(test.index).padStart(3, '0')}:${test.op}`
  return [...byText]
    .sort(([textA, a], [textB, b]) => {
      const [one, other] = [order(a) + textA, order(b) + textB]
      return one < other ? -1 : 1
    })
    .map(([, test]) => test)
}

function readArgument(
  value: unknown,
  path: string,
  signature: FunctionSignature,
  faults: Faults,
): ArgumentTest | null {
  const object = faults.object(value, path, ['index', 'op', 'value'])
  if (object === null) return null
  const last = Math.max(0, signature.argumentAt.length - 1)
  const index = faults.integer(object.index, `${path}.index`, 0, last)
  const op = faults.oneOf(object.op, `${path}.op`, OPS)
  if (index === null || op === null) return null
  const at = signature.argumentAt[index] ?? null
  const word = at === null ? null : (signature.head[at] ?? null)
  if (word === null)
    return faults.report(`${path}.index`, 'must be of an argument that is one word')
  const isNumber = word.kind === 'uint' || word.kind === 'int'
  if (!isNumber && (op === 'lte' || op === 'gte')) {
    return faults.report(`${path}.op`, 'must be eq or in: the argument is not a number')
  }
  if (op !== 'in') {
    const one = readArgumentValue(object.value, `${path}.value`, word, faults)
    return one === null ? null : { index, op, value: one }
  }
  const bounds = { min: 1, max: ARGUMENT_VALUES_MAX }
  const values = faults.list(object.value, `${path}.value`, bounds, (one, oneAt) =>
    readArgumentValue(one, oneAt, word, faults),
  )
  if (values === null) return null
  const sorted = [...new Set(values)].sort((a, b) => (String(a) < String(b) ? -1 : 1))
  return { index, op, value: sorted }
}

function readArgumentValue(
  value: unknown,
  path: string,
  word: Word,
  faults: Faults,
): ArgumentValue | null {
  switch (word.kind) {
    case 'address':
      return readAddress(value, path, faults)
    case 'bool':
      return readBoolean(value, path, faults)
    case 'bytes': {
      const isFit = typeof value === 'string' && BYTES.test(value)
      if (isFit && value.length === 2 + word.size * 2) return value.toLowerCase()
      return faults.report(path, `must be ${word.size} bytes of hex`)
    }
    default:
      return readInteger(value, path, word, faults)
  }
}

function readInteger(
  value: unknown,
  path: string,
  { kind, bits }: Extract<Word, { bits: number }>,
  faults: Faults,
): string | null {
  const form = kind === 'uint' ? DECIMAL : INTEGER
  if (typeof value === 'string' && value.length <= 79 && form.test(value)) {
    const number = BigInt(value)
    const fits = kind === 'uint' ? BigInt.asUintN(bits, number) : BigInt.asIntN(bits, number)
    if (fits === number) return value
  }
  return faults.report(path, `must be a ${kind}${bits} as a decimal string`)
}

function describeArgument({ index, op, value }: ArgumentTest): string {
  const WORDS = { eq: 'is', in: 'is one of', lte: 'is at most', gte: 'is at least' }
  const text = typeof value === 'object' ? value.join(', ') : String(value)
  return `argument ${index} ${WORDS[op]} ${text}`
}

/** For a call of another function the arguments are unknown. */
function argumentsCondition(name: CalledFunction, tests: readonly ArgumentTest[]): Condition {
  const signature = parseSignature(name)
  const compiled = tests.map((test) => compileArgument(signature, test))
  const read = ({ data, selector }: CallShown): FunctionSignature | null =>
    signature !== null && selector === signature.selector && isWellFormed(data, signature)
      ? signature
      : null
  return {
    field: 'arguments',
    ...values(tests.map(argumentText).join(', ')),
    heals: null,
    test(call) {
      if (read(call) === null) return UNJUDGEABLE
      for (const one of compiled) {
        const result = one(call)
        if (result !== HOLDS) return result
      }
      return HOLDS
    },
    observed(call) {
      const known = read(call)
      if (known === null) return CANNOT_BE_JUDGED
      return tests
        .map(({ index }) => {
          const at = known.argumentAt[index] ?? 0
          const word = known.head[at] ?? null
          const value = word === null ? CANNOT_BE_JUDGED : wordValue(wordAt(call.data, at), word)
          return `argument ${index} is ${value}`
        })
        .join(', ')
    },
  }
}

type ArgumentJudge = (call: CallShown) => Truth

function compileArgument(signature: FunctionSignature | null, test: ArgumentTest): ArgumentJudge {
  const at = signature?.argumentAt[test.index] ?? null
  const word = at === null ? null : (signature?.head[at] ?? null)
  if (at === null || word === null) return () => UNJUDGEABLE
  const values = (test.op === 'in' ? test.value : [test.value]).map((value) => native(value, word))
  const [bound] = values
  const set = new Set(values)
  return ({ data }) => {
    if (!isClean(data, at, word)) return UNJUDGEABLE
    const value = wordValue(wordAt(data, at), word)
    if (test.op === 'eq' || test.op === 'in') return truth(set.has(value))
    if (typeof value !== 'bigint' || typeof bound !== 'bigint') return UNJUDGEABLE
    return truth(test.op === 'lte' ? value <= bound : value >= bound)
  }
}

function native(value: ArgumentValue, word: Word): string | boolean | bigint {
  const isNumber = word.kind === 'uint' || word.kind === 'int'
  return isNumber && typeof value === 'string' ? BigInt(value) : value
}

function argumentText({ index, op, value }: ArgumentTest): string {
  const text = typeof value === 'object' ? listText(value) : String(value)
  return `argument ${index} ${op} ${text}`
}

function meetingAll(point: Point, tests: readonly ArgumentTest[]): Point {
  return tests.reduce((met, test) => {
    const [value] = valuesOf(test)
    return value === undefined ? met : PROPERTIES.argument.give(met, { index: test.index, value })
  }, point)
}

/** Values on both sides of the test's bound, or those that it lists. */
function valuesOf(test: ArgumentTest): readonly ArgumentValue[] {
  if (test.op === 'in') return test.value
  if (test.op === 'eq' || typeof test.value === 'boolean') return [test.value]
  const bound = BigInt(test.value)
  return [bound, test.op === 'lte' ? bound + 1n : bound - 1n].map(String)
}
