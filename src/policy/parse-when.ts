import { CHAIN_IDS } from '../domain/chains.js'
import { parseUsd } from '../domain/money.js'
import { type FunctionSignature, parseSignature, type Word } from './function-signature.js'
import { type Faults, fieldPath, type JsonObject } from './json-reader.js'
import { readAddress, readChain, readToken, readUint } from './parse-values.js'
import {
  ADDRESSES_MAX,
  AMOUNTS_MAX,
  type AmountTest,
  ARGUMENT_TESTS_MAX,
  ARGUMENT_VALUES_MAX,
  type ArgumentTest,
  type ArgumentValue,
  COUNT_MAX,
  FUNCTION_CHARS_MAX,
  FUNCTIONS_MAX,
  HOURS_MAX,
  type Hours,
  OPERATIONS,
  type Operation,
  PER_SECONDS_MAX,
  WEEKDAYS,
  type Weekday,
  type When,
} from './policy.js'

type Reader = (value: unknown, path: string, faults: Faults) => unknown

const DECIMAL = /^(?:0|[1-9]\d*)$/
const INTEGER = /^(?:0|-?[1-9]\d*)$/
const SELECTOR = /^0x[0-9a-fA-F]{8}$/
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/
const CLOCK = /^([01]\d|2[0-3]):([0-5]\d)$/
const DAY_MINUTES = 1_440

/** Each condition with where it goes, and how its value is read. */
const CONDITIONS: Readonly<Record<string, readonly [keyof When, Reader]>> = {
  operations: ['operations', listOf(readOperation, OPERATIONS.length)],
  chains: ['chains', listOf(readChain, CHAIN_IDS.length)],
  to: ['to', listOf(readAddress, ADDRESSES_MAX)],
  functions: ['functions', listOf(readFunction, FUNCTIONS_MAX)],
  arguments: ['arguments', (value) => value],
  beneficiaries: ['beneficiaries', listOf(readAddress, ADDRESSES_MAX)],
  value_native_lte: ['valueNativeLte', readUint],
  value_native_gt: ['valueNativeGt', readUint],
  amounts: ['amounts', readAmounts],
  spend_usd_lte: ['spendUsdLte', readUsd],
  spend_usd_gt: ['spendUsdGt', readUsd],
  new_beneficiary: ['newBeneficiary', readBoolean],
  count: ['count', readCount],
  sum_usd: ['sumUsd', readSum],
  utc_hours: ['utcHours', readHoursList],
}

/** @param depth 1 within a `not`, which has none of its own */
export function readWhen(
  value: unknown,
  path: string,
  faults: Faults,
  depth: 0 | 1 = 0,
): When | null {
  const fields = Object.keys(CONDITIONS)
  const object = faults.object(value, path, depth === 0 ? [...fields, 'not'] : fields)
  if (object === null) return null
  const when: Partial<Record<keyof When, unknown>> = {}
  for (const [wire, [name, read]] of Object.entries(CONDITIONS)) {
    if (object[wire] === undefined) continue
    const found = read(object[wire], fieldPath(path, wire), faults)
    if (found !== null) when[name] = found
  }
  if (object.arguments !== undefined) readArguments(when, object, path, faults)
  if (depth === 0 && object.not !== undefined) {
    const not = readWhen(object.not, fieldPath(path, 'not'), faults, 1)
    if (not !== null && Object.keys(not).length === 0) {
      faults.report(fieldPath(path, 'not'), 'must have a condition')
    }
    when.not = not
  }
  return when as When
}

/** A set: its order and repeats mean nothing. */
function listOf<T extends string | number>(
  read: (value: unknown, path: string, faults: Faults) => T | null,
  max: number,
): Reader {
  return (value, path, faults) => {
    const element = (one: unknown, at: string) => read(one, at, faults)
    const elements = faults.list(value, path, { min: 1, max }, element)
    return elements === null ? null : sortedSet(elements)
  }
}

function sortedSet<T extends string | number>(values: readonly T[]): T[] {
  return [...new Set(values)].sort((a, b) => (a < b ? -1 : Number(a > b)))
}

function readOperation(value: unknown, path: string, faults: Faults): Operation | null {
  return faults.oneOf(value, path, OPERATIONS)
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

function readUsd(value: unknown, path: string, faults: Faults) {
  const micros = typeof value === 'string' ? parseUsd(value) : null
  return micros ?? faults.report(path, 'must be USD as a decimal string, like "12.5"')
}

function readBoolean(value: unknown, path: string, faults: Faults): boolean | null {
  return typeof value === 'boolean' ? value : faults.report(path, 'must be true or false')
}

function readCount(value: unknown, path: string, faults: Faults): When['count'] | null {
  const object = faults.object(value, path, ['per_seconds', 'gt'])
  if (object === null) return null
  const perSeconds = readPerSeconds(object, path, faults)
  const gt = faults.integer(object.gt, `${path}.gt`, 0, COUNT_MAX)
  return perSeconds === null || gt === null ? null : { perSeconds, gt }
}

function readSum(value: unknown, path: string, faults: Faults): When['sumUsd'] | null {
  const object = faults.object(value, path, ['per_seconds', 'gt'])
  if (object === null) return null
  const perSeconds = readPerSeconds(object, path, faults)
  const gt = readUsd(object.gt, `${path}.gt`, faults)
  return perSeconds === null || gt === null ? null : { perSeconds, gt }
}

function readPerSeconds(object: JsonObject, path: string, faults: Faults): number | null {
  return faults.integer(object.per_seconds, `${path}.per_seconds`, 1, PER_SECONDS_MAX)
}

function readAmounts(value: unknown, path: string, faults: Faults): AmountTest[] | null {
  const byToken = new Map<string, AmountTest>()
  const list = faults.list(value, path, { min: 1, max: AMOUNTS_MAX }, (element, at) => {
    const object = faults.object(element, at, ['token', 'lte', 'gt'])
    if (object === null) return null
    const token = readToken(object.token, `${at}.token`, faults)
    const lte = object.lte === undefined ? null : readUint(object.lte, `${at}.lte`, faults)
    const gt = object.gt === undefined ? null : readUint(object.gt, `${at}.gt`, faults)
    if (object.lte === undefined && object.gt === undefined) {
      return faults.report(at, 'must have lte or gt')
    }
    if (token === null) return null
    const known = byToken.get(token)
    if ((known?.lte ?? null) !== null && lte !== null) return faults.report(at, 'repeats lte')
    if ((known?.gt ?? null) !== null && gt !== null) return faults.report(at, 'repeats gt')
    byToken.set(token, { token, lte: lte ?? known?.lte ?? null, gt: gt ?? known?.gt ?? null })
    return token
  })
  if (list === null) return null
  return [...byToken.values()].sort((a, b) => (a.token < b.token ? -1 : 1))
}

function readHoursList(value: unknown, path: string, faults: Faults): Hours[] | null {
  const list = faults.list(value, path, { min: 1, max: HOURS_MAX }, (element, at) =>
    readHours(element, at, faults),
  )
  if (list === null) return null
  const text = ({ days, fromMinute, toMinute }: Hours) =>
    `${String(fromMinute).padStart(4, '0')}:${String(toMinute).padStart(4, '0')}:${days.join()}`
  const byText = new Map(list.map((hours) => [text(hours), hours]))
  return [...byText.keys()].sort().flatMap((key) => byText.get(key) ?? [])
}

function readHours(value: unknown, path: string, faults: Faults): Hours | null {
  const object = faults.object(value, path, ['days', 'from', 'to'])
  if (object === null) return null
  const bounds = { min: 1, max: WEEKDAYS.length }
  // Spec silent: without days it is every day's.
  const days = faults.list(object.days ?? WEEKDAYS, `${path}.days`, bounds, (day, at) =>
    faults.oneOf<Weekday>(day, at, WEEKDAYS),
  )
  const fromMinute = readClock(object.from, `${path}.from`, faults)
  const toMinute = object.to === '24:00' ? DAY_MINUTES : readClock(object.to, `${path}.to`, faults)
  if (days === null || fromMinute === null || toMinute === null) return null
  if (fromMinute === toMinute) return faults.report(path, 'must not end where it begins')
  return { days: WEEKDAYS.filter((day) => days.includes(day)), fromMinute, toMinute }
}

function readClock(value: unknown, path: string, faults: Faults): number | null {
  const match = typeof value === 'string' ? CLOCK.exec(value) : null
  if (match === null) return faults.report(path, 'must be a time of day like "08:00"')
  return Number(match[1]) * 60 + Number(match[2])
}

/** They are of one function, which its signature must name. */
function readArguments(
  when: Partial<Record<keyof When, unknown>>,
  object: JsonObject,
  path: string,
  faults: Faults,
): void {
  const at = fieldPath(path, 'arguments')
  const { functions } = when as When
  const [name] = functions ?? []
  const signature = name === undefined ? null : parseSignature(name)
  if (functions?.length !== 1 || signature === null) {
    faults.report(at, 'needs functions with exactly one signature')
    return
  }
  const bounds = { min: 1, max: ARGUMENT_TESTS_MAX }
  const tests = faults.list(object.arguments, at, bounds, (element, elementPath) =>
    readArgument(element, elementPath, signature, faults),
  )
  if (tests === null) return
  const byText = new Map(tests.map((test) => [JSON.stringify(test), test]))
  const order = (test: ArgumentTest) => `${String(test.index).padStart(3, '0')}:${test.op}`
  when.arguments = [...byText]
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
  const op = faults.oneOf(object.op, `${path}.op`, ['eq', 'in', 'lte', 'gte'] as const)
  if (index === null || op === null) return null
  const at = signature.argumentAt[index] ?? null
  const word = at === null ? null : (signature.head[at] ?? null)
  if (word === null)
    return faults.report(`${path}.index`, 'must be of an argument that is one word')
  const isNumber = word.kind === 'uint' || word.kind === 'int'
  if (!isNumber && (op === 'lte' || op === 'gte')) {
    return faults.report(`${path}.op`, 'must be eq or in: the argument is no number')
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
