import { SWAP_LOSS_BPS_MAX } from './bounds.js'
import { CONDITION_FIELDS, type ConditionField, conditionsIn } from './conditions/index.js'
import { conditionsOf, maxSwapLossBpsOf, type Policy, type Rule, type When } from './policy.js'
import { around, type Point, PROPERTIES, type Properties, USUAL } from './sampled-call.js'

/**
 * Calls at which two policies may differ: those that each rule describes, then one and two steps
 * away from them. Rules and values that only one of the policies has come first.
 */
export function* candidates(before: Policy | null, next: Policy | null): Generator<Point> {
  const policies = [next, before].filter((policy) => policy !== null)
  const { near, far } = seedsOf(policies)
  const steps = stepsOf(policies, lossesAround([before, next]))
  yield* near
  for (const seed of near) for (const { to } of steps) yield to(seed)
  yield* far
  yield* inTurns(near.map((seed) => twoSteps(seed, steps)))
  for (const seed of far) for (const { to } of steps) yield to(seed)
  yield* inTurns(far.map((seed) => twoSteps(seed, steps)))
}

/** A step from one call to one that differs in one respect. */
interface Step {
  /** Two steps of one kind undo each other. */
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

/** The most values of one kind that steps lead to. Those nearest to a difference come first. */
const STEPS_OF_A_KIND_MAX = 8
/** Calls that the rules describe; `near` are those of rules that only one policy has. */
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

/**
 * The conditions that a seed meets first: the kind of call, what it moves and whom it pays, since
 * these also set its callee. Other conditions follow. Of two bounds the upper one is met last.
 */
const MET_FIRST: readonly ConditionField[] = [
  ...(['functions', 'operations', 'chains', 'amounts', 'beneficiaries', 'tokenOut', 'to'] as const),
  ...(['arguments', 'valueNativeGt', 'valueNativeLte', 'spendUsdGt', 'spendUsdLte'] as const),
]
const AS_MET = [...new Set([...MET_FIRST, ...CONDITION_FIELDS])]

function seedOf(when: When): Point {
  return conditionsIn(when, AS_MET).reduce((point, { row: { sample }, value }) => {
    if (sample.meet !== undefined) return sample.meet(point, value, when)
    const [first] = sample.values(value)
    return first === undefined ? point : giving(sample.of, point, first)
  }, USUAL)
}

type Values = { readonly [Name in keyof Properties]?: readonly Properties[Name][] }

function stepsOf(policies: readonly Policy[], losses: readonly number[]): Step[] {
  const ofPolicies: Values = {
    lossBps: losses,
    units: policies.flatMap(({ ceilings }) =>
      ceilings.flatMap(({ chainId, token, per, amount }) =>
        around(amount).map((units) => ({ chainId, token, per, amount: units })),
      ),
    ),
    spend: policies.flatMap(({ perTransactionMicros: bound }) =>
      bound === null ? [] : around(bound),
    ),
  }
  return PROPERTY_NAMES.flatMap((name, of) => {
    const telling = mostTelling(policies, (when) =>
      conditionsIn(when).flatMap(({ row: { sample }, value }): readonly unknown[] =>
        sample.of === name ? sample.values(value) : [],
      ),
    )
    const values = [...telling, ...(ofPolicies[name] ?? []), ...PROPERTIES[name].always]
    return values.map((value) => ({ of, to: (point: Point) => giving(name, point, value) }))
  })
}

const PROPERTY_NAMES = Object.keys(PROPERTIES) as (keyof Properties)[]

/** @param value a value of this property */
function giving(name: keyof Properties, point: Point, value: unknown): Point {
  const { give } = PROPERTIES[name] as { give(point: Point, value: unknown): Point }
  return give(point, value)
}

/** Losses on both sides of each loss bound. */
function lossesAround(policies: readonly (Policy | null)[]): number[] {
  const bounds = policies.map(maxSwapLossBpsOf)
  if (bounds[0] === bounds[1]) return []
  return bounds.flatMap((bound) =>
    bound === null || bound === SWAP_LOSS_BPS_MAX ? [] : [bound + 1],
  )
}

/** The values of all conditions, those that only one policy has first. */
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

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one) => {
    if (typeof one === 'bigint') return `${one}n`
    return one instanceof Map ? [...one] : one
  })
}
