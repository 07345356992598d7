import type { Address } from '../domain/ids.js'
import type { Point } from './example-points.js'
import {
  type AmountTest,
  type ArgumentTest,
  type ArgumentValue,
  conditionsOf,
  type Hours,
  type Operation,
  type Policy,
  type Rule,
  type Token,
  WEEKDAYS,
  type When,
} from './policy.js'
import { TOKEN_CALLS } from './token-calls.js'

/**
 * Where two policies may differ: at what each rule is about, one step, then two, away from it. Rules
 * and values that only one of the two has come first.
 */
export function* candidates(before: Policy | null, next: Policy | null): Generator<Point> {
  const policies = [next, before].filter((policy) => policy !== null)
  const { near, far } = seedsOf(policies)
  const steps = stepsOf(policies)
  yield* near
  for (const seed of near) for (const { to } of steps) yield to(seed)
  yield* far
  yield* inTurns(near.map((seed) => twoSteps(seed, steps)))
  for (const seed of far) for (const { to } of steps) yield to(seed)
  yield* inTurns(far.map((seed) => twoSteps(seed, steps)))
}

/** From one call to one that differs by one thing. */
interface Step {
  /** Two of one kind undo each other. */
  readonly of: number
  readonly to: (point: Point) => Point
}

function* twoSteps(seed: Point, steps: readonly Step[]): Generator<Point> {
  for (const one of steps) {
    const from = one.to(seed)
    for (const other of steps) if (other.of > one.of) yield other.to(from)
  }
}

function* inTurns<T>(sources: readonly Generator<T>[]): Generator<T> {
  let open = sources
  while (open.length > 0) {
    const still: Generator<T>[] = []
    for (const source of open) {
      const { value, done } = source.next()
      if (done === true) continue
      yield value
      still.push(source)
    }
    open = still
  }
}

/** Of one kind: values that a step can lead to. The nearest to a difference come first. */
const STEPS_OF_A_KIND_MAX = 8
const TRANSFER = 'transfer(address,uint256)'
const UNNAMED_FUNCTION = '0x5a5a5a5a'
const STRANGER: Address = '0x00000000000000000000000000000000005a5a5a'
const A_TOKEN: Address = '0x00000000000000000000000000000000005a5a5b'
const DAY_MINUTES = 1_440

/** A payment of nothing much, at noon on a Monday, with no history. */
const USUAL: Point = {
  ...{ operation: 'send', chainId: 8453, callee: STRANGER, called: 'native', values: new Map() },
  ...{ payee: STRANGER, token: A_TOKEN, amount: 1n, value: 0n },
  ...{ spendMicros: 1_000_000n, isPayeeKnown: false, minute: 720, counted: new Map() },
}

/** A call that each rule is about, as far as it says; near: of rules that only one policy has. */
function seedsOf(policies: readonly Policy[]) {
  const rules = new Map<string, { readonly rule: Rule; count: number }>()
  for (const rule of policies.flatMap((policy) => policy.rules)) {
    const text = textOf(rule)
    const known = rules.get(text)
    if (known === undefined) rules.set(text, { rule, count: 1 })
    else known.count++
  }
  const near = new Map<string, Point>()
  const far = new Map<string, Point>()
  for (const { rule, count } of rules.values()) {
    const seed = seedOf(rule.when)
    const seeds = count === 1 ? near : far
    seeds.set(textOf(seed), seed)
  }
  return { near: [...near.values(), USUAL], far: [...far.values()] }
}

function seedOf(when: When): Point {
  let point = USUAL
  const [called] = when.functions ?? []
  const [amount] = when.amounts ?? []
  const [operation] = when.operations ?? []
  const isOfToken = amount !== undefined && amount.token !== 'native'
  if (called !== undefined) point = { ...point, called }
  else if (isOfToken) point = { ...point, called: TRANSFER }
  if (operation !== undefined) point = { ...point, operation }
  if (when.chains?.[0] !== undefined) point = { ...point, chainId: when.chains[0] }
  if (amount !== undefined) point = moving(point, amount.token, withinTest(amount))
  if (when.beneficiaries?.[0] !== undefined) point = paying(point, when.beneficiaries[0])
  if (when.to?.[0] !== undefined) point = { ...point, callee: when.to[0] }
  for (const test of when.arguments ?? []) {
    const [value] = valuesOf(test)
    if (value !== undefined) point = withArgument(point, test.index, value)
  }
  const value = when.valueNativeLte ?? (when.valueNativeGt ?? point.value - 1n) + 1n
  const spend = when.spendUsdLte ?? (when.spendUsdGt === undefined ? null : when.spendUsdGt + 1n)
  if (spend !== null) point = { ...point, spendMicros: spend }
  if (when.newBeneficiary === false) point = { ...point, isPayeeKnown: true }
  if (when.count !== undefined) point = counting(point, when.count.perSeconds, when.count.gt, 0n)
  if (when.sumUsd !== undefined) point = counting(point, when.sumUsd.perSeconds, 1, when.sumUsd.gt)
  const [hours] = when.utcHours ?? []
  if (hours !== undefined) point = { ...point, minute: minutesOf(hours)[0] ?? point.minute }
  return { ...point, value }
}

/** Something that a test lets through. */
function withinTest({ lte, gt }: AmountTest): bigint {
  return lte ?? (gt ?? 0n) + 1n
}

function stepsOf(policies: readonly Policy[]): Step[] {
  let of = 0
  const steps: Step[] = []
  const say = <T>(read: (when: When) => readonly T[], more: readonly T[], to: Stepping<T>) => {
    of++
    for (const value of [...mostTelling(policies, read), ...more]) {
      steps.push({ of, to: (point) => to(point, value) })
    }
  }
  const perCall = policies.flatMap(({ perTransactionMicros: bound }) =>
    bound === null ? [] : [bound, bound + 1n],
  )
  const units = policies.flatMap(({ ceilings }) =>
    ceilings.flatMap(({ amount, ...of }) => [
      { ...of, amount },
      { ...of, amount: amount + 1n },
    ]),
  )
  say<Operation>(
    ({ operations = [] }) => operations,
    ['swap', 'send'],
    (point, operation) => ({ ...point, operation }),
  )
  say(
    ({ chains = [] }) => chains,
    [1, 8453],
    (point, chainId) => ({ ...point, chainId }),
  )
  say(
    ({ functions = [] }) => functions,
    ['native', TRANSFER, UNNAMED_FUNCTION],
    (point, called) => ({ ...point, called, values: USUAL.values }),
  )
  say(
    ({ to = [] }) => to,
    [STRANGER],
    (point, callee) => ({ ...point, callee }),
  )
  say(({ beneficiaries = [] }) => beneficiaries, [STRANGER], paying)
  say(
    ({ arguments: tests = [] }) =>
      tests.flatMap((test) => valuesOf(test).map((value) => ({ ...test, value }))),
    [],
    (point, { index, value }) => withArgument(point, index, value),
  )
  say(
    ({ amounts = [] }) =>
      amounts.flatMap(({ token, lte, gt }) => around(lte, gt).map((amount) => ({ token, amount }))),
    [],
    (point, { token, amount }) => moving(point, token, amount),
  )
  say(
    () => [],
    units,
    (point, { chainId, token, amount }) => moving({ ...point, chainId }, token, amount),
  )
  say(
    ({ valueNativeLte = null, valueNativeGt = null }) => around(valueNativeLte, valueNativeGt),
    [0n],
    (point, value) => ({ ...point, value }),
  )
  say<bigint | null>(
    ({ spendUsdLte = null, spendUsdGt = null }) => around(spendUsdLte, spendUsdGt),
    [...perCall, null],
    (point, spendMicros) => ({ ...point, spendMicros }),
  )
  say(
    () => [],
    [true, false],
    (point, isPayeeKnown) => ({ ...point, isPayeeKnown }),
  )
  say(
    ({ utcHours = [] }) => utcHours.flatMap(minutesOf),
    [USUAL.minute],
    (point, minute) => ({ ...point, minute }),
  )
  say(
    ({ count, sumUsd }) => [
      ...(count === undefined ? [] : countsOf(count.perSeconds, count.gt)),
      ...(sumUsd === undefined ? [] : [{ ...sumUsd, count: 1, micros: sumUsd.gt }]),
    ],
    [],
    (point, { perSeconds, count, micros }) => counting(point, perSeconds, count, micros),
  )
  return steps
}

type Stepping<T> = (point: Point, value: T) => Point

/** Of all conditions: first what only one of the policies has. */
function mostTelling<T>(policies: readonly Policy[], read: (when: When) => readonly T[]): T[] {
  const found = new Map<string, { readonly value: T; readonly in: Set<Policy> }>()
  for (const policy of policies) {
    for (const when of conditionsOf(policy)) {
      for (const value of read(when)) {
        const text = textOf(value)
        const known = found.get(text)
        if (known === undefined) found.set(text, { value, in: new Set([policy]) })
        else known.in.add(policy)
      }
    }
  }
  return [...found.values()]
    .sort((one, other) => one.in.size - other.in.size)
    .slice(0, STEPS_OF_A_KIND_MAX)
    .map(({ value }) => value)
}

/** At both sides of each bound. */
function around(lte: bigint | null, gt: bigint | null): bigint[] {
  return [lte, gt].flatMap((bound) => (bound === null ? [] : [bound, bound + 1n]))
}

function countsOf(perSeconds: number, gt: number) {
  return [Math.max(0, gt - 1), gt].map((count) => ({ perSeconds, count, micros: 0n }))
}

function valuesOf(test: ArgumentTest): readonly ArgumentValue[] {
  if (test.op === 'in') return test.value
  if (test.op === 'eq' || typeof test.value === 'boolean') return [test.value]
  const bound = BigInt(test.value)
  return [bound, test.op === 'lte' ? bound + 1n : bound - 1n].map(String)
}

function withArgument(point: Point, index: number, value: ArgumentValue): Point {
  return { ...point, values: new Map([...point.values, [index, value]]) }
}

/** A payment in native currency goes to its callee. */
function paying(point: Point, payee: Address): Point {
  return point.called === 'native' ? { ...point, payee, callee: payee } : { ...point, payee }
}

function moving(point: Point, token: Token, amount: bigint): Point {
  if (point.operation !== 'send') return { ...point, token, amount }
  if (token === 'native') return { ...point, value: amount }
  const called = TOKEN_CALLS[point.called] === undefined ? TRANSFER : point.called
  return { ...point, called, callee: token, amount }
}

function counting(point: Point, perSeconds: number, count: number, micros: bigint): Point {
  return { ...point, counted: new Map([...point.counted, [perSeconds, { count, micros }]]) }
}

/** When they begin, and when they are over, on the first of their days. */
function minutesOf({ days, fromMinute, toMinute }: Hours): number[] {
  const day = WEEKDAYS.findIndex((one) => days.includes(one)) * DAY_MINUTES
  return [day + fromMinute, (day + toMinute) % (7 * DAY_MINUTES)]
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one) => {
    if (typeof one === 'bigint') return `${one}n`
    return one instanceof Map ? [...one] : one
  })
}
