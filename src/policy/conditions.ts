import type { Address } from '../domain/ids.js'
import { isoTime } from '../domain/iso-time.js'
import { formatUsd } from '../domain/money.js'
import type { CallShown } from './call-shown.js'
import { isClean, isWellFormed, wordAt, wordValue } from './calldata-words.js'
import { hoursText } from './clock-text.js'
import { type FunctionSignature, parseSignature, type Word } from './function-signature.js'
import type {
  AmountTest,
  ArgumentTest,
  ArgumentValue,
  CalledFunction,
  Hours,
  When,
} from './policy.js'
import { isWithinHours } from './utc-hours.js'

/**
 * What a condition can come to, as bits: a judge that sees all has one of them, one that leaves
 * something to the other domain has all that are possible.
 */
export type Truth = number
export const HOLDS = 1
export const FAILS = 2
export const UNJUDGEABLE = 4
export const OPEN = HOLDS | FAILS | UNJUDGEABLE

/** Said by a judge of what only the other one knows. */
export const ELSEWHERE = 'elsewhere'

/** What a judge knows of a call beyond its bytes; null is what cannot be known. */
export interface Facts {
  readonly nowMs: number
  /** As it counts against the caps, gas included. */
  readonly spendMicros: bigint | null | typeof ELSEWHERE
  /** Whether the wallet has paid this address before. */
  readonly hasPaid: ((address: Address) => boolean) | null | typeof ELSEWHERE
  /** What went before this call within so many seconds. */
  readonly within: (perSeconds: number) => Counted | null
  /** Whether sums in USD are known in `within`. */
  readonly countsUsd: boolean
}

export interface Counted {
  readonly count: number
  readonly micros: bigint
}

/** A compiled condition, and how it is told. */
export interface Condition {
  readonly field: string
  test(call: CallShown, facts: Facts): Truth
  /** For people and programs, in the wire's terms. */
  observed(call: CallShown, facts: Facts): string
  /** For what it holds, and for what it fails; of a bound both are the bound. */
  readonly heldBy: string
  readonly failedBy: string
  readonly heals: Heals | null
}

/** How time changes what a condition comes to. */
export type Heals =
  | { readonly hours: readonly Hours[] }
  /** Once no more than this went before, within so many seconds. */
  | { readonly perSeconds: number; readonly countMax: number }
  | { readonly perSeconds: number; readonly microsMax: bigint }

export const CANNOT_BE_JUDGED = 'cannot be judged'

/** In the order in which they are told of: what people bound first. */
export function compileWhen(when: When): Condition[] {
  return [
    ...quantities(when),
    ...parties(when),
    ...shapes(when),
    ...(when.not === undefined ? [] : [negated(when.not)]),
  ]
}

/** All of them. */
export function testAll(conditions: readonly Condition[], call: CallShown, facts: Facts): Truth {
  let all = HOLDS
  for (const condition of conditions) {
    all = both(all, condition.test(call, facts))
    if (all === FAILS) return FAILS
  }
  return all
}

/** What a conjunction of two can come to: one that fails decides it, else one that is unknown. */
export function both(one: Truth, other: Truth): Truth {
  if (one === HOLDS) return other
  const holds = one & other & HOLDS
  const fails = (one | other) & FAILS
  const isUnknown =
    ((one & UNJUDGEABLE) !== 0 && (other & (HOLDS | UNJUDGEABLE)) !== 0) ||
    ((other & UNJUDGEABLE) !== 0 && (one & (HOLDS | UNJUDGEABLE)) !== 0)
  return holds | fails | (isUnknown ? UNJUDGEABLE : 0)
}

export function opposite(truth: Truth): Truth {
  return (
    (truth & UNJUDGEABLE) |
    ((truth & HOLDS) === 0 ? 0 : FAILS) |
    ((truth & FAILS) === 0 ? 0 : HOLDS)
  )
}

function truth(holds: boolean): Truth {
  return holds ? HOLDS : FAILS
}

function quantities(when: When): Condition[] {
  const { count, sumUsd, spendUsdLte, spendUsdGt, valueNativeLte, valueNativeGt, amounts } = when
  const found: Condition[] = []
  if (count !== undefined) found.push(countCondition(count))
  if (sumUsd !== undefined) found.push(sumCondition(sumUsd))
  if (spendUsdGt !== undefined) found.push(spendCondition('spend_usd_gt', spendUsdGt, 'over'))
  if (spendUsdLte !== undefined) found.push(spendCondition('spend_usd_lte', spendUsdLte, 'within'))
  if (amounts !== undefined) found.push(amountsCondition(amounts))
  if (valueNativeGt !== undefined)
    found.push(valueCondition('value_native_gt', valueNativeGt, 'over'))
  if (valueNativeLte !== undefined) {
    found.push(valueCondition('value_native_lte', valueNativeLte, 'within'))
  }
  return found
}

function countCondition({ perSeconds, gt }: { perSeconds: number; gt: number }): Condition {
  return {
    field: 'count',
    ...numeric(String(gt)),
    heals: { perSeconds, countMax: gt - 1 },
    test(_, { within }) {
      const counted = within(perSeconds)
      return counted === null ? UNJUDGEABLE : truth(counted.count + 1 > gt)
    },
    observed(_, { within }) {
      const counted = within(perSeconds)
      return counted === null ? CANNOT_BE_JUDGED : String(counted.count + 1)
    },
  }
}

function sumCondition({ perSeconds, gt }: { perSeconds: number; gt: bigint }): Condition {
  const sumOf = ({ within, spendMicros, countsUsd }: Facts): bigint | null => {
    const counted = within(perSeconds)
    if (counted === null || typeof spendMicros !== 'bigint' || !countsUsd) return null
    return counted.micros + spendMicros
  }
  return {
    field: 'sum_usd',
    ...numeric(formatUsd(gt)),
    heals: { perSeconds, microsMax: gt },
    test(_, facts) {
      if (facts.spendMicros === ELSEWHERE) return OPEN
      const sum = sumOf(facts)
      return sum === null ? UNJUDGEABLE : truth(sum > gt)
    },
    observed(_, facts) {
      const sum = sumOf(facts)
      return sum === null ? CANNOT_BE_JUDGED : formatUsd(sum)
    },
  }
}

function spendCondition(field: string, bound: bigint, side: 'over' | 'within'): Condition {
  return {
    field,
    ...numeric(formatUsd(bound)),
    heals: null,
    test(_, { spendMicros }) {
      if (spendMicros === ELSEWHERE) return OPEN
      if (spendMicros === null) return UNJUDGEABLE
      return truth(spendMicros > bound === (side === 'over'))
    },
    observed: (_, { spendMicros }) =>
      typeof spendMicros === 'bigint' ? formatUsd(spendMicros) : CANNOT_BE_JUDGED,
  }
}

function valueCondition(field: string, bound: bigint, side: 'over' | 'within'): Condition {
  return {
    field,
    ...numeric(bound.toString()),
    heals: null,
    test: ({ value }) => truth(value > bound === (side === 'over')),
    observed: ({ value }) => value.toString(),
  }
}

/**
 * Holds when the call moves a token that is listed, within every bound for it. Native value that
 * goes along with a token and is not listed itself leaves it open what is moved.
 */
function amountsCondition(tests: readonly AmountTest[]): Condition {
  const listsNative = tests.some(({ token }) => token === 'native')
  const only = onlyBound(tests)
  return {
    field: 'amounts',
    ...(only === null ? values(tests.map(boundText).join(', ')) : numeric(String(only))),
    heals: null,
    test({ moves, value }) {
      if (moves === null) return UNJUDGEABLE
      if (value > 0n && moves.length > 1 && !listsNative) return UNJUDGEABLE
      let isListed = false
      for (const { token, lte, gt } of tests) {
        for (const move of moves) {
          if (move.token !== token) continue
          isListed = true
          if ((lte !== null && move.amount > lte) || (gt !== null && move.amount <= gt))
            return FAILS
        }
      }
      return truth(isListed)
    },
    observed: ({ moves }) =>
      moves === null
        ? CANNOT_BE_JUDGED
        : only !== null && moves.length === 1 && moves[0]?.token === tests[0]?.token
          ? String(moves[0]?.amount)
          : moves.map(({ token, amount }) => `${amount} of ${token}`).join(', ') || 'nothing',
  }
}

/** The number that it comes down to, where there is one. */
function onlyBound(tests: readonly AmountTest[]): bigint | null {
  const [test] = tests
  if (test === undefined || tests.length > 1) return null
  if (test.lte !== null && test.gt !== null) return null
  return test.lte ?? test.gt
}

function boundText({ token, lte, gt }: AmountTest): string {
  const bounds = [lte === null ? [] : `at most ${lte}`, gt === null ? [] : `more than ${gt}`]
  return `${bounds.flat().join(' and ')} of ${token}`
}

function parties(when: When): Condition[] {
  const found: Condition[] = []
  if (when.newBeneficiary !== undefined) found.push(newBeneficiaryCondition(when.newBeneficiary))
  if (when.beneficiaries !== undefined) {
    const listed = new Set(when.beneficiaries)
    found.push({
      field: 'beneficiaries',
      ...values(listText(when.beneficiaries)),
      heals: null,
      test: ({ beneficiaries }) =>
        beneficiaries === null
          ? UNJUDGEABLE
          : truth(beneficiaries.every((address) => listed.has(address))),
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

function shapes(when: When): Condition[] {
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

/** Of one named function; where the call is another one, nothing can be said of its arguments. */
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

function negated(when: When): Condition {
  const inner = compileWhen(when)
  const [only, ...others] = inner
  const texts = {
    field: only !== undefined && others.length === 0 ? only.field : 'not',
    heldBy: inner.map(({ failedBy }) => failedBy).join(' or '),
    failedBy: inner.map(({ heldBy }) => heldBy).join(' and '),
    heals: others.length === 0 ? (only?.heals ?? null) : null,
  }
  return {
    ...texts,
    test: (call, facts) => opposite(testAll(inner, call, facts)),
    observed: (call, facts) => inner.map((one) => one.observed(call, facts)).join(', '),
  }
}

/** Of a bound: either side is told by it. */
function numeric(bound: string): Pick<Condition, 'heldBy' | 'failedBy'> {
  return { heldBy: bound, failedBy: bound }
}

function values(text: string): Pick<Condition, 'heldBy' | 'failedBy'> {
  return { heldBy: text, failedBy: `not: ${text}` }
}

function argumentText({ index, op, value }: ArgumentTest): string {
  const text = typeof value === 'object' ? listText(value) : String(value)
  return `argument ${index} ${op} ${text}`
}

/** So many are named in a refusal; the policy itself is there for the rest. */
const LISTED_MAX = 8

function listText(values: readonly (string | number | boolean)[]): string {
  const more = values.length - LISTED_MAX
  const named = values.slice(0, LISTED_MAX).join(', ')
  return more > 0 ? `${named} and ${more} more` : named
}
